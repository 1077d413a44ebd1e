/** The rooms of src/stores, each with the rooms that it may import. `port` is the interface that every store implements. */
const postgresBase = ['port', 'server', 'postgres/options', 'postgres/wire']
const sqliteBase = ['port', 'sqlite/connection']
const valkeyBase = ['port', 'level', 'server', 'working-set/*', 'valkey/*']
const workingSet = ['port', 'sql', 'working-set/*']

export const stores = {
  rooms: {
    server: [],
    level: [],
    sql: ['port', 'working-set/*'],
    memory: ['port', 'working-set/*'],
    'working-set': workingSet,
    'working-set/overlay': workingSet,
    'working-set/load': workingSet,
    'working-set/commit': workingSet,
    'working-set/partition': workingSet,
    'working-set/batch': workingSet,

    'sqlite/connection': [],
    'sqlite/file': [...sqliteBase, 'level'],
    'sqlite/tables': [...sqliteBase, 'sql', 'working-set/*'],
    'sqlite/transaction': [...sqliteBase, 'level', 'sql', 'working-set/*', 'sqlite/file', 'sqlite/tables'],
    sqlite: [...sqliteBase, 'level', 'sqlite/file', 'sqlite/transaction'],

    'postgres/options': ['server'],
    'postgres/wire': ['server', 'postgres/options'],
    'postgres/boot': postgresBase,
    'postgres/schema': [...postgresBase, 'level', 'postgres/boot'],
    'postgres/notify': postgresBase,
    'postgres/staging': postgresBase,
    'postgres/load': [...postgresBase, 'working-set/*'],
    'postgres/flush': [...postgresBase, 'sql', 'working-set/*'],
    'postgres/transaction': [
      ...postgresBase,
      'level',
      'sql',
      'working-set/*',
      'postgres/load',
      'postgres/flush',
      'postgres/staging',
    ],
    postgres: [...postgresBase, 'level', 'sql', 'postgres/*'],

    'valkey/options': valkeyBase,
    'valkey/wire': valkeyBase,
    'valkey/connection': valkeyBase,
    'valkey/library': valkeyBase,
    'valkey/boot': valkeyBase,
    'valkey/notify': valkeyBase,
    'valkey/migration': valkeyBase,
    valkey: valkeyBase,

    open: ['port', 'level', 'sql', 'memory', 'sqlite/*', 'postgres/*', 'valkey/*'],
  },
  shared: { port: ['store.ts', 'wake-listeners.ts'] },
}
