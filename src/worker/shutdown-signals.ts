/** Ends a program gently when its environment asks for that: the first signal drains, a second one hurries. */
const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Calls back for each signal until it is told to stop listening; from then on a signal ends the process as usual. */
export function listenToSignals(onSignal: (count: number) => void): () => void {
  let count = 0
  const listener = () => onSignal(++count)
  for (const signal of SIGNALS) process.on(signal, listener)
  return () => {
    for (const signal of SIGNALS) process.off(signal, listener)
  }
}
