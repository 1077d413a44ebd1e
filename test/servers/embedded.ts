/** With this set, tests that need a server are left out and the others do without. */
export const isEmbedded = process.env['FLOWFABRIC_TEST_EMBEDDED'] === '1'

/** With this set too, only the memory store is tested: for runs that try the tests, and not the stores. */
export const isInMemory = isEmbedded && process.env['FLOWFABRIC_TEST_IN_MEMORY'] === '1'
