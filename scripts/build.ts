/**
 * Bundles the package into an empty dist: one entry for each export and for the command, and the chunks that they share. Then it
 * bundles the dashboard into dist/ui.
 * Node loads a few chunks several times faster than hundreds of modules. tsc writes the declarations.
 */
import { cp } from 'node:fs/promises'
import path from 'node:path'
import { build } from 'vite'

const root = path.resolve(import.meta.dirname, '..')
const CHUNKS = 'chunks'

await build({
  root,
  configFile: false,
  logLevel: 'warn',
  build: {
    ssr: true,
    outDir: 'dist',
    emptyOutDir: true,
    // Stack traces name functions and lines of readable code, so the package needs no source maps, which would double its size.
    minify: false,
    target: 'node22',
    rolldownOptions: {
      input: {
        index: 'src/index.ts',
        contract: 'src/contract.ts',
        worker: 'src/worker.ts',
        server: 'src/server.ts',
        http: 'src/http.ts',
        react: 'src/react.ts',
        'testing/index': 'src/testing/index.ts',
        'cli/main': 'src/cli/main.ts',
      },
      // Editors read documentation from the declarations, so it is not shipped twice.
      output: { entryFileNames: '[name].js', chunkFileNames: `${CHUNKS}/[name].js`, comments: { jsdoc: false } },
      // The directive of the hooks is kept, because they are an entry.
      onLog: (level, log, report) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log)
      },
    },
  },
})
await build({
  root: path.join(root, 'dashboard'),
  // The page may be mounted at any path, so its addresses are relative to its base.
  base: './',
  configFile: false,
  logLevel: 'warn',
  build: {
    outDir: path.join(root, 'dist/ui'),
    emptyOutDir: true,
    target: 'es2023',
    // An inline asset would need an exception in the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Packages that also run on servers mark their modules, which means nothing here.
      onLog: (level, log, report) => {
        if (log.code !== 'MODULE_LEVEL_DIRECTIVE') report(level, log)
      },
    },
  },
})
// The chunk that loads the library looks for it in its own folder.
await cp(path.join(root, 'src/stores/valkey/library/library.lua'), path.join(root, 'dist', CHUNKS, 'library.lua'))
