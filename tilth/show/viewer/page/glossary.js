// The words a newcomer needs, as docs/glossary.md and docs/visualize.md have them.

export const WORDS = [
  ["doubt", "a sum of what speaks against trusting a task: 0 is nothing, from 20 on it is worth a look, 60 and more is grave"],
  ["score, bar", "the evaluator's mark from 0 to 100; the bar is TILTH_EVAL_THRESHOLD, below which an accept does not count (0: none set)"],
  ["gate", "the validators (ruff, pytest, your own), run on a frozen copy of the work"],
  ["case", "the worker's claim that a task is done"],
  ["suite", "the project's own tests, which must stay as green as they were"],
  ["mutant", "a small fault planted into the change; one that no test notices speaks against the tests"],
  ["probe, proven", "a test the evaluator wrote for its concern; proven: it was seen to fail on the work"],
  ["below the bar", "accepted without a good verdict, because the settings say so"],
  ["C1, C2", "the verdicts on a task, numbered from the oldest"],
  ["rework", "the iterations after a rejection"],
  ["iteration", "one call of the worker and what is done in answer"],
];
