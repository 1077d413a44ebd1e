/** The rooms of src/stores, each with the rooms that it may import. `port` is the interface that every store implements. */
const postgresBase = ['port', 'server', 'postgres/options', 'postgres/wire']
const sqliteBase = ['port', 'sqlite/connection']
const valkeyBase = ['port', 'server', 'valkey/options', 'valkey/layout', 'valkey/wire', 'valkey/connection']

export const stores = {
  rooms: {
    server: [],
    level: [],
    // Compares the tables of a store with those that the migrations make.
    drift: [],
    sql: ['port', 'working-set/overlay'],
    memory: ['port', 'level', 'working-set/overlay'],
    'working-set/overlay': ['port'],
    'working-set/load': ['port', 'sql', 'working-set/overlay'],
    'working-set/commit': ['port', 'working-set/overlay', 'working-set/load'],
    'working-set/partition': ['port', 'working-set/overlay', 'working-set/load', 'working-set/commit'],
    'working-set/batch': ['port', 'working-set/*'],

    'sqlite/connection': [],
    'sqlite/file': [...sqliteBase, 'level', 'drift'],
    'sqlite/tables': [...sqliteBase, 'sql', 'working-set/*'],
    'sqlite/transaction': [...sqliteBase, 'level', 'sql', 'working-set/*', 'sqlite/file', 'sqlite/tables'],
    sqlite: [...sqliteBase, 'level', 'sqlite/file', 'sqlite/transaction'],

    'postgres/options': ['server'],
    'postgres/wire': ['server', 'postgres/options'],
    'postgres/boot': postgresBase,
    'postgres/schema': [...postgresBase, 'level', 'drift', 'postgres/boot'],
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

    'valkey/options': ['server'],
    'valkey/layout': ['port', 'working-set/overlay', 'working-set/commit'],
    'valkey/wire': ['port', 'working-set/load', 'working-set/commit', 'valkey/layout'],
    'valkey/connection': ['server', 'valkey/options', 'valkey/wire'],
    'valkey/library': [...valkeyBase, 'level'],
    'valkey/notify': valkeyBase,
    'valkey/boot': [...valkeyBase, 'level', 'valkey/library'],
    'valkey/migration': [...valkeyBase, 'level', 'valkey/library', 'valkey/boot'],
    valkey: [...valkeyBase, 'level', 'working-set/*', 'valkey/*'],

    remote: ['port'],

    open: ['port', 'remote', 'level', 'drift', 'sql', 'memory', 'sqlite/*', 'postgres/*', 'valkey/*'],
  },
  shared: { port: ['store.ts', 'partitions.ts', 'wake-listeners.ts'] },
}
