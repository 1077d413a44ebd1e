/**
 * Bundles the package into an empty dist: one entry for each export and for the command, and the chunks that they share.
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
    minify: false,
    sourcemap: true,
    target: 'node22',
    rolldownOptions: {
      input: {
        index: 'src/index.ts',
        contract: 'src/contract.ts',
        worker: 'src/worker.ts',
        server: 'src/server.ts',
        'testing/index': 'src/testing/index.ts',
        'cli/main': 'src/cli/main.ts',
      },
      output: { entryFileNames: '[name].js', chunkFileNames: `${CHUNKS}/[name].js` },
    },
  },
})
// The chunk that loads the library looks for it in its own folder.
await cp(path.join(root, 'src/stores/valkey/library/library.lua'), path.join(root, 'dist', CHUNKS, 'library.lua'))
