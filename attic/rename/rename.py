#!/usr/bin/env python3
"""Renames the house's own words to the field's, in the checkout it is run in. Deterministic; running it twice changes nothing more."""
import os, re, subprocess, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from split import split

SELF = os.path.dirname(os.path.abspath(__file__))
root = subprocess.check_output(["git", "rev-parse", "--show-toplevel"], text=True).strip()
os.chdir(root)
tracked = subprocess.check_output(["git", "ls-files"], text=True).splitlines()

# ---- files: stem (without extension) -> stem; .h and .cc alike
MOVES = {
    "proxy/state/lock/hold_table": "proxy/state/lock/operation_leases",
    "proxy/state/lock/tickets": "proxy/state/lock/reservations",
    "proxy/state/lock/lock_place": "proxy/state/lock/queue_position",
    "proxy/state/newcomers": "proxy/state/recent_creations",
    "proxy/request/patience": "proxy/request/client_wait",
    "proxy/request/operation/held_write": "proxy/request/operation/leased_write",
    "proxy/request/operation/rest": "proxy/request/operation/provisioned",
    "proxy/request/queue/keep_place": "proxy/request/queue/reservation",
    "proxy/request/shadow/would_have": "proxy/request/shadow/shadow_finding",
    "proxy/net/socket/seldom": "proxy/net/socket/log_throttle",
    "proxy/net/socket/spare_text": "proxy/net/socket/buffer_pool",
    "proxy/gateway/doors": "proxy/gateway/listeners",
    "cli/heal/link/service_door": "cli/heal/link/service_listener",
    "rules/file/patience_table": "rules/file/queue_timeouts",
    "tests/proxy/state/lock/hold_table_test": "tests/proxy/state/lock/operation_leases_test",
    "tests/proxy/state/lock/tickets_test": "tests/proxy/state/lock/reservations_test",
    "tests/proxy/state/lock/lock_place_test": "tests/proxy/state/lock/queue_position_test",
    "tests/proxy/state/newcomers_test": "tests/proxy/state/recent_creations_test",
    "tests/proxy/request/patience_test": "tests/proxy/request/client_wait_test",
    "tests/proxy/request/operation/held_write_test": "tests/proxy/request/operation/leased_write_test",
    "tests/proxy/request/operation/rest_test": "tests/proxy/request/operation/provisioned_test",
    "tests/proxy/request/operation/holds_test": "tests/proxy/request/operation/operation_leases_test",
    "tests/proxy/request/queue/tickets_test": "tests/proxy/request/queue/reservation_test",
    "tests/proxy/request/queue/keep_place_test": "tests/proxy/request/queue/keep_reservation_test",
    "tests/proxy/net/seldom_test": "tests/proxy/net/log_throttle_test",
    "tests/proxy/net/spare_text_test": "tests/proxy/net/buffer_pool_test",
    "tests/proxy/gateway/doors_test": "tests/proxy/gateway/listeners_test",
    "tests/proxy/observability/admin_door_test": "tests/proxy/observability/admin_listener_test",
    "tests/rules/file/patience_table_test": "tests/rules/file/queue_timeouts_test",
}

# ---- identifiers in code: (where, {old: new}); the first that matches counts
CODE = [
    (r"^(tests/)?proxy/net/(client/)?server", {"Door": "ListenerKind", "door": "listener_kind"}),
    (r"^(tests/)?proxy/request/operation/unlock", {"held": "held"}),
    (r"^proxy/(gateway|observability/timeline)|^tests/proxy/observability/timeline", {"look": "sample", "Look": "Sample", "next_look_": "next_sample_"}),
    (r"^proxy/gateway/gateway|^cli/process/(service|exec)", {"tell": "log_line"}),
    (r"^proxy/request/shadow/observe", {"tell": "report", "patience": "give_up_after"}),
    (r"^proxy/request/operation/send_again", {"tell": "log_attempt"}),
    (r"^proxy/state/sending_ledger", {"tell": "mark_told"}),
    (r"^(tests/)?proxy/state/lock/|^proxy/request/write/(intend|forward)|^proxy/request/operation/watch|^bench/tables", {"tell": "set_phase"}),
    (r"^proxy/net/socket/(poller|socket\.)", {"tell": "watch_for"}),
    (r"^proxy/net/", {"tell": "emit"}),
    (r"^proxy/request/(guard/|write/recover)", {"look": "read_current"}),
    (r"^proxy/request/operation/(rest|provisioned)\.", {"look": "read_state"}),
    (r"^proxy/request/operation/watch", {"look": "poll_once"}),
    (r"^proxy/state/budgets", {"look": "let_go_due"}),
    (r"^proxy/net/client/credentials_gate", {"look": "check"}),
    (r"^cli/check\.cc", {"look": "stat_of"}),
    (r"^cli/commands\.cc", {"look": "ask_status", "tell": "report"}),
    (r"^(proxy/request/(operation|write|shadow)/|tests/proxy/request/(operation|write)/)", {"held": "leased", "is_held": "is_leased"}),
    (r"^(tests/)?rules/|^cli/explain|^cli/view/", {"hold": "lease", "Hold": "LeaseTerm", "patience": "queue_timeouts", "patience_": "queue_timeouts_"}),
    (r"^proxy/config/|^cli/types|^bench/|^tests/support/world/sim_world", {"patience": "queue_timeouts"}),
    (r"^proxy/request/shadow/observe", {"would": "finding"}),
    (r"^proxy/request/shadow/|^proxy/gateway/(events|gateway)|^proxy/observability/tally|^tests/(proxy/request/(shadow|queue)/|support/(world/sim_world|stage_rig)|proxy/observability/tally)",
     {"would": "finding"}),
    (r"^tests/support/stage_rig", {"would_": "findings_"}),
    (r"^cli/link/send_through|^cli/heal/|^cli/doctor|^tests/cli/", {"patience": "timeout", "kPatience": "kTimeout"}),
    (r"^tests/support/world/sim_client", {"patience": "client_timeout"}),
    (r"^proxy/request/(queue/keep_place|queue/reservation)|^proxy/state/lock/(tickets|reservations)|^proxy/gateway/options|^tests/(proxy/gateway/options_test|support/checkers/|proxy/request/queue/tickets|proxy/state/lock/tickets|proxy/request/)",
     {"grace": "ttl"}),
    (r"^proxy/request/(queue/keep_place|queue/reservation)|^proxy/state/lock/(tickets|reservations)|^tests/proxy/(state/lock/(tickets|reservations)|request/queue)",
     {"Reserved": "Claimable"}),
    (r"^(tests/)?proxy/(state|request|gateway|observability)/|^tests/(support|gate_sim)/|^bench/",
     {"hold": "op_lease", "holds": "op_leases", "holds_": "op_leases_", "Hold": "OperationLease", "ticket": "reservation", "tickets": "reservations",
      "Ticket": "Reservation", "Tickets": "Reservations", "Patience": "ClientWait", "orphan": "undelivered"}),
    (r"^(tests/)?proxy/request/", {"patience": "client_wait"}),
    (r"^(proxy/net|proxy/gateway|tests/proxy/(net|gateway|observability)|proxy/config|cli/)", {"Door": "ListenerKind", "door": "listener"}),
    (r"^tests/(proxy|gate_sim)/", {"blind": "unconditional", "Blind": "Unconditional"}),
    (r"^proxy/async/|^(tests/)?proxy/async/", {"Run": "RootTask"}),
    (r"", {
        "patience": "queue_timeouts", "HoldTable": "OperationLeases", "HoldTableTest": "OperationLeasesTest", "HeldWrite": "LeasedWrite", "HeldBecause": "LeasedBecause",
        "HoldUntil": "LeaseUntil", "held_write": "leased_write", "open_hold": "open_lease", "hold_write": "open_operation_lease", "ToHold": "LeaseInputs",
        "holds_expired": "leases_expired", "holds_released": "leases_released", "holds_at": "leases_at", "hold_of": "lease_of",
        "PollErrorLeaksHold": "PollErrorLeaksLease", "TicketTable": "ReservationTable", "ticket_options": "reservation_options",
        "own_tickets": "own_reservations", "TicketIgnored": "ReservationIgnored", "PatienceRule": "QueueTimeout", "PatienceTable": "QueueTimeouts",
        "patience_of": "queue_timeout_of", "LockPlace": "QueuePosition", "LockPlaces": "QueuePositions", "keep_place": "reserve_position",
        "return_to_place": "claim_reservation", "take_place": "take_position", "place_kept_until": "reserved_until", "places_kept": "reservations_kept",
        "places_taken": "reservations_claimed", "kept_place": "claimed_reservation", "Reenter": "Reentrant", "reenter": "reentrant",
        "reenters": "is_reentrant", "let_own_in": "admit_own", "newcomers": "recent_creations", "Newcomers": "RecentCreations",
        "NewcomersTable": "RecentCreationsTable", "must_rest": "must_be_provisioned", "what_must_rest": "what_must_be_provisioned", "Rest": "Provisioned",
        "wait_for_rest": "wait_until_provisioned", "is_at_rest": "is_settled", "kAtRestMax": "kSettledMax", "Loan": "CredentialLoan", "hurry": "poll_now",
        "stir": "expect_end", "note_stirred": "note_end_expected", "stirred": "end_expected", "lend": "lend_credentials",
        "is_orphan": "is_undelivered", "orphan_a_restart": "undelivered_then_restart", "answers_an_orphan": "answers_an_undelivered",
        "made_by_its_own_orphan": "made_by_its_own_undelivered", "WouldHave": "ShadowFinding", "would_have": "make_finding", "tell_would": "report_finding",
        "Seldom": "LogThrottle", "SpareTexts": "BufferPool", "SpareText": "PooledBuffer", "spares": "pooled", "kSparesMax": "kPooledMax",
        "false_alarms": "spurious_412s", "BlindAlwaysSent": "UnconditionalAlwaysSent", "BlindReplayAfter412": "UnconditionalReplayAfter412",
        "FormerLife": "PreviousProcess", "former_life": "previous_process", "former_life_": "previous_process_", "tell_loudly": "alert",
        "TellLoudly": "Alert", "tell_loudly_": "alert_", "DoorPorts": "ListenerPorts", "door_text": "listener_text", "own_door": "own_listener",
        "is_own_door": "is_own_listener", "service_door": "service_listener", "admin_door": "admin_listener", "proxy_door": "proxy_listener",
        "direct_door": "direct_listener", "open_door": "open_listener", "open_doors": "open_listeners", "door_answers_": "listener_answers_",
        "AdminDoor": "AdminListener", "ShapesMixed": "ApiVersionsMixed", "at_rest": "settled",
        "CutOffTakenForEnded": "AbortTakenForEnd",
    }),
]
CODE = [(re.compile(where), names) for where, names in CODE]

# Before the words are taken one by one.
CODE_CONTEXT = [
    (re.compile(r"\bpatience(?=\(\))"), "queue_timeouts"), (re.compile(r"\b(all|book|config|rules|file|loaded|more|read|written|shipped)(\.|->)patience\b"), r"\1\2queue_timeouts"),
    (re.compile(r"\b(tickets|own_tickets)\.reserve\b(?!\()"), r"\1.claim_timeout"),
    (re.compile(r"(?<=[.>])held\(\)"), "held_KEEP()"),
    (re.compile(r"\boptions\.door\b"), "options.listener_kind"),
    (re.compile(r"\bplace\.look\("), "place.let_go_due("),
    (re.compile(r"\b((?:share|budget|FairShare|ReadBudget)(?:\.|::)|budgets\[i\]\.|void )told\("), r"\1note_left("),
    (re.compile(r"\brule(\(\))?(->|\.)hold\b"), r"rule\1\2lease"),
    (re.compile(r"(?<![.>\w])(tickets|reservations)?(\.)?options\(\)\.reserve\b(?!\()"), lambda m: m.group(0).replace("reserve", "claim_timeout")),
    (re.compile(r"\b(left|options|given)\.reserve\b(?!\()"), r"\1.claim_timeout"),
    (re.compile(r"\bDuration reserve\b"), "Duration claim_timeout"),
    (re.compile(r"\.reserve = "), ".claim_timeout = "),
]
# Names of tests: what is one word there.
TEST_NAMES = [
    (re.compile(r"\b(\w*?(?:A|The|Old|Closed|Inherited|Two))Hold(s?)(?=[A-Z]|\b)"), r"\1Lease\2"),
    (re.compile(r"\b(\w*?(?:A|The|Two|Of))Ticket(s?)(?=[A-Z]|\b)"), r"\1Reservation\2"),
    (re.compile(r"\bABlind(?=[A-Z])"), "AnUnconditional"),
    (re.compile(r"\b(\w+)Blind(?=[A-Z])"), r"\1Unconditional"),
    (re.compile(r"\b(\w+)AnOrphan"), r"\1AnUndelivered"),
    (re.compile(r"\b(\w+)Patience(\w*)\b"), r"\1QueueTimeout\2"),
]

# ---- prose: comments, documents, texts
OP = "operation lease"
PROSE = [
    (r"\bA hold\b", "An operation lease"), (r"\ba hold\b", "an operation lease"), (r"\ban inherited hold\b", "an inherited lease"),
    (r"\b([Tt]he|[Ii]ts|[Ee]ach|[Aa]nother|[Nn]o|one|of|own|longer than any|old|inherited) hold\b(?! of| on others)", r"\1 " + OP),
    (r"\bthe hold of a write\b", "the operation lease of a write"),
    (r"\b([Aa]ll|[Ii]ts|[Bb]ecomes?|open|inherited) holds (?=on |use |again|are|at)", r"\1 operation leases "),
    (r"\bHolds (?=whose|have no)", "Operation leases "),
    (r"\b(locks|turns|waits|versions)(,| and) holds\b(?=,| are| belong)", r"\1\2 operation leases"),
    (r"\bhold (released|given up):", r"lease \1:"),
    (r"\bthe held write\b", "the leased write"), (r"will be held as `held`", "gets an operation lease as `leased`"),
    (r"\bA ticket's\b", "A reservation's"), (r"\b([Aa]|[Tt]he|[Ee]ach|[Oo]ldest|[Nn]o|a long|shares a) ticket(s?)\b(?! hold| key| per)", r"\1 reservation\2"),
    (r"\b0: no tickets\b", "0: no reservations"), (r"\bLimits    Options; tickets\b", "Limits    Options; reservations"),
    (r"^// rest\.h", "// provisioned.h"), (r"\(tickets\)", "(reservations)"), (r"\bwith tickets,", "with reservations,"),
    (r"\bits grace\b", "its time to live"), (r"\ba grace shorter than the reserve was\b", "a time to live shorter than the claim timeout was"),
    (r"\bafter the reserve, and its place after the grace\b", "after the claim timeout, and its place after the time to live"),
    (r"\b(client|clients)('s?|s'|') patience\b", r"\1\2 queue timeout"), (r"\b([Ii]ts|[Hh]er) patience\b", r"\1 queue timeout"),
    (r"\bpatience of clients\b", "queue timeouts of clients"), (r"\bshort patience\b", "short queue timeouts"),
    (r"\ba shorter `?patience`? for it\b", "a shorter queue timeout for it"),
    (r"\[`patience`\]\(rules\.md#queue_timeouts\)", "[`queue_timeouts`](rules.md#queue_timeouts)"), (r"`patience` of the rules", "`queue_timeouts` of the rules"),
    (r"conf/rules/patience\.json(?!` *\|)", "conf/rules/queue-timeouts.json"),
    (r"`patience` in all, then TimedOut", "`timeout` in all, then TimedOut"),
    (r"\b(an|An) orphan\b", r"\1 undelivered write"), (r"\borphans\b", "undelivered writes"),
    (r"\bA blind\b", "An unconditional"), (r"\ba blind\b", "an unconditional"),
    (r"\bthe blind rule\b", "the rule for unconditional writes"), (r"\bblind (writes?|PUTs?|PATCHes|re-send)\b", r"unconditional \1"),
    (r"blind-always-sent", "unconditional-always-sent"), (r"blind-replay-after-412", "unconditional-replay-after-412"),
    (r"ticket-ignored", "reservation-ignored"), (r"poll-error-leaks-hold", "poll-error-leaks-lease"),
    (r"\b(is|are|be|being|come|comes|came|that|until all is|[Aa]nd|resource) (not )?at rest\b", r"\1 \2in a final state"),
    (r"\bcome to rest\b", "reach a final state"), (r"\bthere and at rest\b", "there and in a final state"), (r"\band at rest\b", "and in a final state"),
    (r"\ba resource at rest\b", "a resource in a final state"), (r"\breentry and rest\b", "reentry and final states"),
    (r"\b(?:, )?which is said loudly\b", "with an alert"), (r"\band(?: is)? said loudly\b", "with an alert"), (r"\bsaid loudly\b", "with an alert"), (r"\bsays so loudly\b", "says so in an alert"),
    (r"\bthat sending's hold\b", "that sending's operation lease"), (r"\bgets the orphan's answer\b", "gets that one's answer"),
    (r"\bWhat a ticket holds is\b", "What a reservation keeps is"), (r"\*ticket\*", "*reservation*"), (r"\bholds are\b", "operation leases are"),
    (r"\bwhose patience ends\b", "whose queue timeout ends"), (r"\bseen at rest\b", "seen in a final state"), (r"\bthen at rest, or at rest for a minute\b", "then in a final state, or in a final state for a minute"),
    (r"^Words: the code says \*hold\*[^\n]*\n\n?", ""), (r"^\| \*\*orphan\*\* \|[^\n]*\n", ""),
    (r"^(\| \*\*unconditional\*\* \|)", r"| **undelivered** | Of a write: it was sent, and its client is gone without its answer. |\n\1"), (r"\bSays loudly if\b", "Alerts if"),
    (r"\breleases the operation lease loudly\b", "releases the operation lease with an alert"), (r"\breleased loudly\b", "released with an alert"),
    (r"\bor loudly when it is too old\b", "or with an alert when it is too old"), (r"\bthen loudly\b", "then with an alert"),
    (r"\bevent loop's door for clients\b", "event loop's listener for clients"), (r"\bper event loop and door\b", "per event loop and listener"),
    (r"\bthe service's own door\b", "the service's own listener"), (r"\bNot a door for clients\b", "Not for clients"),
    (r"\bformer life\b", "previous process"), (r"\bGoal: the door as a client meets it\b", "Goal: the listener as a client meets it"),
    (r"\bkept place\b", "reservation"), (r"\bits place is kept \(keep_place\.h\)", "its place is reserved (reservation.h)"),
    (r", in code a \*hold\* \(`state", " (`state"), (r"\*held\*, until the operation ends or until all is in a final state", "kept as an operation lease until the operation ends, or until all is in a final state"),
    (r", in code an? \*(operation )?hold\*", ""),
]
PROSE = [(re.compile(a, re.M), b) for a, b in PROSE]

TEXT = (".cc", ".h", ".md", ".mjs", ".py", ".txt", ".cmake", ".json", ".yaml", ".yml", ".sh", ".go", ".in")
SKIP = re.compile(r"^(CHANGELOG\.md|rules/file/renames\.cc|tests/rules/file/renames_test\.cc|tests/cli/migrate_test\.cc|tests/fuzz/corpus/|conf/rules/|conf/types/|LICENSE|docs/decisions/)")
PATHS_ONLY = re.compile(r"^(docs/decisions/|CHANGELOG\.md$)")

def stems():
    table = []
    for old, new in MOVES.items():
        o, n = old.split("/"), new.split("/")
        for k in range(len(o) - 1):  # with at least one folder before it
            table.append(("/".join(o[k:]), "/".join(n[k:])))
    seen, out = set(), []
    for old, new in sorted(table, key=lambda x: -len(x[0])):
        if old not in seen:
            seen.add(old)
            out.append((re.compile(r"(?<![\w-])" + re.escape(old) + r"(?![\w-])"), new))
    return out
STEMS = stems()
FILES = [(re.compile(r"(?<![\w/-])" + re.escape(os.path.basename(o)) + r"\.(h|cc)\b"), os.path.basename(n) + r".\1") for o, n in MOVES.items()
         if os.path.basename(o) not in ("rest", "tickets_test", "holds_test")]

def paths(text):
    for pattern, new in STEMS: text = pattern.sub(new, text)
    for pattern, new in FILES: text = pattern.sub(new, text)
    return text

def tables_for(path):
    merged = {}
    for where, names in reversed(CODE):
        if where.search(path): merged.update(names)
    return merged

WORD = re.compile(r"[A-Za-z_]\w*")
def identifiers(text, names, only_distinct=False):
    def one(m):
        w = m.group(0)
        if only_distinct and not ("_" in w.strip("_") or re.search(r"[a-z][A-Z]", w)): return w
        return names.get(w, w)
    text = WORD.sub(one, text)
    for pattern, new in TEST_NAMES: text = pattern.sub(new, text)
    return text

def prose(text):
    for pattern, new in PROSE: text = pattern.sub(new, text)
    return text

def backticks(text, names):
    return re.sub(r"`([^`\n]+)`", lambda m: "`" + identifiers(m.group(1), names, True) + "`", text)

COMMENT = re.compile(r"^(\s*// ?)(\s*)(.*)$")
def wrapped(text, old):
    """Comment lines that became too long go on in the next line of their comment."""
    before = set(old.split("\n"))
    lines, at = text.split("\n"), 0
    while at < len(lines):
        m = COMMENT.match(lines[at])
        if m and len(lines[at]) > 130 and lines[at] not in before:
            cut = lines[at].rfind(" ", 0, 131)
            rest = lines[at][cut + 1:]
            lines[at] = lines[at][:cut]
            n = COMMENT.match(lines[at + 1]) if at + 1 < len(lines) else None
            if n and n.group(1) == m.group(1) and n.group(3) and n.group(2) == m.group(2) and not re.match(r"(-|\d+\.|[A-Z]\w+:? {2,})", n.group(3)) and m.group(1).strip() == "//":
                lines[at + 1] = n.group(1) + n.group(2) + rest + " " + n.group(3)
            else:
                hang = "  " if re.match(r"(-|\d+\.) ", m.group(3)) else ""
                lines.insert(at + 1, m.group(1) + m.group(2) + hang + rest)
            before.discard(lines[at + 1])
        at += 1
    return "\n".join(lines)

def cpp(path, text):
    old = text
    names = tables_for(path)
    text = paths(text)
    out = []
    for kind, piece in split(text):
        if kind == "code":
            for pattern, new in CODE_CONTEXT: piece = pattern.sub(new, piece)
            piece = identifiers(piece, names).replace("held_KEEP", "held")
        elif kind == "comment":
            piece = prose(identifiers(piece, names, True))
            piece = re.sub(r"`(\w+)`", lambda m: "`" + names.get(m.group(1), m.group(1)) + "`", piece)
        elif kind == "string" and not piece.startswith('"/'):
            piece = prose(piece)
        out.append(piece)
    return wrapped(paths("".join(out)), old)

changed = []
for path in tracked:
    if not (path.endswith(TEXT) or path.startswith("scripts/") or path == "Makefile"): continue
    if os.path.islink(path) or not os.path.isfile(path): continue
    try: text = open(path, encoding="utf-8").read()
    except UnicodeDecodeError: continue
    if path == "CHANGELOG.md":
        rows = "  | log messages `hold released:`, `hold given up:` | `lease released:`, `lease given up:` |\n"
        new = text if rows in text else re.sub(r"(  \| log message `hold expired:` \|[^\n]*\n)", lambda m: m.group(1) + rows, text, count=1)
    elif PATHS_ONLY.search(path): new = paths(text)
    elif SKIP.search(path): continue
    elif path.endswith((".cc", ".h")): new = cpp(path, text)
    elif path.endswith(".md"): new = paths(prose(backticks("\n".join(identifiers(l, {}) if "`" in l and "." in l else l for l in text.split("\n")), tables_for(""))))
    else: new = paths(prose(text))
    new = re.sub(r'(\| \*\*undelivered\*\*[^\n]*\n)\1+', r'\1', new)
    if new != text:
        open(path, "w", encoding="utf-8").write(new)
        changed.append(path)

for old, new in MOVES.items():
    for end in (".h", ".cc"):
        if os.path.exists(old + end):
            subprocess.check_call(["git", "mv", old + end, new + end])
            changed = [new + end if c == old + end else c for c in changed]
for c in sorted(set(changed)):
    if c.endswith((".cc", ".h")): print(c)
