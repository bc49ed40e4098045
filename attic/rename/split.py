"""Splits C++ text into ('code'|'comment'|'string', text) segments."""
import re
TOKEN = re.compile(r'''(?P<raw>\bR"(?P<d>[^()\\\s]{0,16})\(.*?\)(?P=d)")|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<char>(?<![0-9A-Fa-f])'(?:[^'\\\n]|\\.)+')|(?P<line>//[^\n]*)|(?P<block>/\*.*?\*/)''', re.S)
def split(text):
    at = 0
    for m in TOKEN.finditer(text):
        if m.start() > at: yield 'code', text[at:m.start()]
        kind = 'comment' if m.group('line') or m.group('block') else 'string'
        yield kind, m.group(0)
        at = m.end()
    if at < len(text): yield 'code', text[at:]
