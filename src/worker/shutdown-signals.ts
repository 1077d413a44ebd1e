/** Graceful shutdown on process signals. */
const SIGNALS = ['SIGTERM', 'SIGINT'] as const

/** Calls back for each signal with its count. Returns a function that restores the default behaviour of signals. */
export function onShutdownSignal(onSignal: (count: number) => void): () => void {
  let count = 0
  const listener = () => onSignal(++count)
  for (const signal of SIGNALS) process.on(signal, listener)
  return () => {
    for (const signal of SIGNALS) process.off(signal, listener)
  }
}
