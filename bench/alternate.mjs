// Whether a change made armgate slower: the same benchmarks of two builds of armgate_bench in turns, by the CPU time that they take.
//
//   node bench/alternate.mjs BEFORE AFTER [--rounds 40] [--filter REGEX]
import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";

const READ_AND_WRITE = "whole_read/of_a_type_with_a_rule/real_time/threads:1$|whole_read_of/1500|whole_write/real_time/threads:1$|whole_write_of/1500";
const { values: options, positionals: [before, after] } = parseArgs({ allowPositionals: true, options: {
  rounds: { type: "string", default: "40" }, filter: { type: "string", default: READ_AND_WRITE } } });

function timesOf(program) {
  const text = execFileSync(program, [`--benchmark_filter=${options.filter}`, "--benchmark_min_time=0.15", "--benchmark_format=json"],
                            { stdio: ["ignore", "pipe", "ignore"], maxBuffer: 1 << 26 });
  return JSON.parse(text).benchmarks.map(({ name, cpu_time: ns }) => [name, ns]);
}

const seen = new Map();
for (let round = 0; round < Number(options.rounds); ++round) {
  const order = round % 2 === 0 ? [before, after] : [after, before];
  for (const program of order) {
    for (const [name, ns] of timesOf(program)) {
      if (!seen.has(name)) seen.set(name, { before: [], after: [] });
      seen.get(name)[program === before ? "before" : "after"].push(ns);
    }
  }
}
const at = (times, share) => [...times].sort((a, b) => a - b)[Math.floor(times.length * share)];
for (const [name, times] of seen) {
  const ratios = times.before.map((ns, round) => times.after[round] / ns);
  const both = (share) => `${at(times.before, share).toFixed(0)} -> ${at(times.after, share).toFixed(0)}`;
  console.log(`${name}: median ${both(0.5)} ns, least ${both(0)} ns, median of the rounds' ratios ${at(ratios, 0.5).toFixed(3)}`);
}
