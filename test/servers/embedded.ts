/** With this set, tests that need a server are left out and the others do without. */
export const isEmbedded = process.env['FLOWFABRIC_TEST_EMBEDDED'] === '1'
