// How numbers, times and states are written.

export const money = (usd) => {
  if (usd === null || usd === undefined) return "unknown";
  return `$${usd.toFixed(usd > 0 && usd < 0.01 ? 4 : 2)}`;
};

export const count = (number) => {
  if (number >= 1e6) return `${(number / 1e6).toFixed(1)}M`;
  return number >= 1e4 ? `${Math.round(number / 1e3)}k` : `${number}`;
};

export const counted = (number, one) => `${number.toLocaleString("en")} ${number === 1 ? one : `${one}s`}`;

export function span(ms) {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const two = (number) => `${number}`.padStart(2, "0");

export function clock(ms, withSeconds = false) {
  const at = new Date(ms);
  return `${two(at.getHours())}:${two(at.getMinutes())}${withSeconds ? `:${two(at.getSeconds())}` : ""}`;
}

export function day(ms) {
  const at = new Date(ms);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

// A mark beside every colour: states must be told apart without it.
export const MARKS = { good: "✓", doubt: "!", failed: "✗", running: "▸", waiting: "·" };
export const TAMPERED = "⚠ tampered";
