/** The rooms of the kernel. `contract` is what every operation is written against: the transaction, the results, the constants. */
export const kernel = {
  rooms: {
    model: ['constants'],
    rules: ['contract', 'model'],
    lifecycle: ['contract', 'model', 'rules'],
    'lifecycle/flows': ['contract', 'model', 'rules', 'lifecycle'],
    'lifecycle/journal': ['contract', 'model', 'rules', 'lifecycle', 'lifecycle/children'],
    'lifecycle/children': ['contract', 'model', 'rules', 'lifecycle'],
    'lifecycle/endings': [
      'contract',
      'model',
      'rules',
      'lifecycle',
      'lifecycle/children',
      'lifecycle/flows',
      'lifecycle/journal',
      'lifecycle/schedules',
    ],
    'lifecycle/schedules': ['contract', 'model', 'rules', 'lifecycle', 'lifecycle/endings'],
    'lifecycle/limits': ['contract', 'model', 'rules', 'lifecycle'],
    'lifecycle/budgets': ['contract', 'model', 'rules', 'lifecycle', 'lifecycle/limits'],
    'operations/executions': ['contract', 'model', 'rules', 'lifecycle/*'],
    // A claim runs what is due before it looks for work.
    'operations/leases': ['contract', 'model', 'rules', 'lifecycle/*', 'operations/due'],
    'operations/flows': ['contract', 'model', 'rules', 'lifecycle/*'],
    'operations/journal': ['contract', 'model', 'rules', 'lifecycle/*'],
    'operations/streams': ['contract', 'model', 'rules', 'lifecycle/*'],
    'operations/lanes': ['contract', 'model'],
    'operations/limits': ['contract', 'model', 'rules', 'lifecycle/*'],
    'operations/due': ['contract', 'model', 'rules', 'lifecycle/*'],
    'operations/schedules': ['contract', 'model', 'rules', 'lifecycle/*'],
    'operations/budgets': ['contract', 'model', 'rules', 'lifecycle/*'],
    'operations/duties': ['contract', 'model', 'rules'],
    'operations/consumers': ['contract', 'model', 'rules'],
    'operations/workers': ['contract', 'model', 'rules', 'lifecycle/*'],
    'operations/upkeep': ['contract', 'model', 'rules', 'lifecycle/*'],
  },
  /** Files directly in the folder that other rooms may import by these names. */
  shared: {
    constants: ['limits.ts', 'errors.ts'],
    contract: ['limits.ts', 'errors.ts', 'engine-error.ts', 'tx.ts', 'results.ts'],
  },
}
