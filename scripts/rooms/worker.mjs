/** The rooms of src/worker, each with the rooms that it may import. The files directly in the folder assemble them. */
export const worker = {
  rooms: {
    store: [],
    metrics: [],
    batch: [],
    lease: ['served-task', 'store', 'metrics'],
    permits: ['store', 'lease'],
    claim: ['served-task', 'store', 'lease', 'permits'],
    steps: ['error-text', 'store', 'lease'],
    registry: ['served-task'],
    children: ['store', 'lease', 'steps'],
    streams: ['store', 'lease', 'steps'],
    budgets: ['store', 'lease', 'steps'],
    context: ['error-text', 'store', 'lease', 'steps', 'children', 'permits', 'streams', 'budgets'],
    // The report of an outcome may carry the next claim. An attempt without a result undoes its steps.
    attempt: ['error-text', 'store', 'lease', 'context', 'claim', 'steps', 'permits'],
    dispatch: ['error-text', 'served-task', 'metrics', 'lease', 'context', 'claim', 'attempt', 'permits'],
  },
  /** Files directly in the folder that rooms may import by these names. */
  shared: {
    'served-task': ['served-task.ts'],
    'error-text': ['error-text.ts'],
  },
}
