/**
 * Imports go one way: kernel ← stores ← engine, client ← worker ← fabric ← server ← cli. The runtime and the checks of options may be
 * imported by all but the kernel, and the files directly under src join the layers into the published package. Unit tests
 * and their fixtures may import anything.
 */
import bench from './bench/package.json' with { type: 'json' }
import manifest from './package.json' with { type: 'json' }
import { cli } from './scripts/rooms/cli.mjs'
import { client } from './scripts/rooms/client.mjs'
import { engine } from './scripts/rooms/engine.mjs'
import { kernel } from './scripts/rooms/kernel.mjs'
import { server } from './scripts/rooms/server.mjs'
import { stores } from './scripts/rooms/stores.mjs'
import { worker } from './scripts/rooms/worker.mjs'

const UNIT_TEST = '[.](test|fixture)[.]ts$'

/** What each folder of src may import from the others. */
const layers = {
  kernel: [],
  runtime: [],
  options: ['kernel'],
  stores: ['kernel', 'runtime', 'options'],
  calendar: ['kernel', 'runtime'],
  engine: ['kernel', 'runtime', 'options', 'stores', 'calendar'],
  client: ['kernel', 'runtime', 'options', 'stores', 'calendar'],
  worker: ['kernel', 'runtime', 'options', 'stores', 'client'],
  codec: ['kernel', 'runtime', 'stores'],
  fabric: ['kernel', 'runtime', 'options', 'stores', 'engine', 'client', 'worker', 'codec'],
  server: ['kernel', 'runtime', 'options', 'stores', 'engine', 'client', 'fabric'],
  // Types of the server alone: the client of the HTTP API loads nothing of it, which the test of its bundle checks.
  http: ['kernel', 'client', 'server'],
  react: ['kernel', 'http'],
  testing: ['kernel', 'runtime', 'options', 'stores', 'engine', 'client', 'worker', 'fabric'],
  // The tools of MCP. Of its SDK, types alone: the command loads it and passes it.
  mcp: ['kernel', 'runtime', 'client', 'fabric'],
  cli: ['kernel', 'runtime', 'options', 'stores', 'engine', 'client', 'worker', 'codec', 'fabric', 'server', 'mcp'],
}

/** The files directly under src that a layer may import; they are what the package exports. */
const mayUseThePackage = ['cli', 'testing']

const layerRules = Object.entries(layers).map(([layer, others]) => {
  const allowed = [layer, ...others].map((name) => `^src/${name}/`)
  if (mayUseThePackage.includes(layer)) allowed.push('^src/[^/]+$')
  return {
    name: `${layer}-layer`,
    severity: 'error',
    comment: `src/${layer} may import from src only: ${[layer, ...others].join(', ')}.`,
    from: { path: `^src/${layer}/`, pathNot: UNIT_TEST },
    to: { path: '^src/', pathNot: allowed },
  }
})

/** The folders inside a layer. A pattern ends in `/*` where it stands for all folders below. */
const rooms = { kernel, client, worker, stores, engine, server, cli }

function roomPath(layer, name, shared) {
  if (shared[name] !== undefined) return `^src/${layer}/(${shared[name].join('|')})$`
  return name.endsWith('/*') ? `^src/${layer}/${name.slice(0, -2)}/` : `^src/${layer}/${name}/[^/]+$`
}

const roomRules = Object.entries(rooms).flatMap(([layer, { rooms: allowed, shared }]) => [
  ...Object.entries(allowed).map(([room, others]) => ({
    name: `${layer}-${room.replaceAll('/', '-')}`,
    severity: 'error',
    comment: `src/${layer}/${room} may import from src/${layer} only: ${others.join(', ')}.`,
    from: { path: `^src/${layer}/${room}/[^/]+$`, pathNot: UNIT_TEST },
    to: { path: `^src/${layer}/`, pathNot: [room, ...others].map((name) => roomPath(layer, name, shared)) },
  })),
  ...(Object.keys(allowed).length === 0
    ? []
    : [
        {
          name: `${layer}-rooms`,
          severity: 'error',
          comment: `A new folder of src/${layer} needs its place in scripts/rooms/${layer}.mjs.`,
          from: {
            path: `^src/${layer}/.+/[^/]+$`,
            pathNot: Object.keys(allowed).map((room) => `^src/${layer}/${room}/[^/]+$`),
          },
          to: {},
        },
      ]),
])

export default {
  forbidden: [
    ...layerRules,
    ...roomRules,
    {
      name: 'kernel-contract',
      severity: 'error',
      comment: 'The transaction interface and the results know what is stored, and no rule or operation.',
      from: { path: roomPath('kernel', 'contract', rooms.kernel.shared) },
      to: {
        path: '^src/kernel/',
        pathNot: [roomPath('kernel', 'contract', rooms.kernel.shared), '^src/kernel/model/'],
      },
    },
    {
      name: 'kernel-is-alone',
      severity: 'error',
      comment: 'The kernel is pure: packages and the modules of Node are for the layers around it.',
      from: { path: '^src/kernel/', pathNot: UNIT_TEST },
      to: { pathNot: '^src/' },
    },
    {
      name: 'contract-is-portable',
      severity: 'error',
      comment: 'What defines work can be imported by a browser: it reaches no module of Node and no store.',
      from: { path: '^src/contract[.]ts$' },
      to: {
        reachable: true,
        pathNot: [
          '^src/client/(checks|define)/',
          '^src/kernel/(?!index[.]ts)',
          '^src/options/',
          '^src/runtime/log[.]ts$',
          'node_modules/@standard-schema/spec/',
        ],
      },
    },
    {
      name: 'known-layers',
      severity: 'error',
      comment: 'A new folder of src needs its place in the order of the layers.',
      from: { path: '^src/[^/]+/', pathNot: Object.keys(layers).map((name) => `^src/${name}/`) },
      to: {},
    },
    {
      name: 'package-leaves-out-its-shell',
      severity: 'error',
      comment: 'The library does not import the command line or the test tools.',
      from: { path: '^src/[^/]+$', pathNot: UNIT_TEST },
      to: { path: '^src/(cli|testing)/' },
    },
    {
      name: 'peers-stay-optional',
      severity: 'error',
      comment: 'A peer that may be missing is loaded where it is needed, with import(). Types of it may be imported.',
      from: { path: '^src/', pathNot: [UNIT_TEST, '^src/react[./]'] },
      to: {
        path: Object.keys(manifest.peerDependencies).map((name) => `^node_modules/${name}/`),
        dependencyTypesNot: ['type-only', 'dynamic-import'],
      },
    },
    {
      name: 'source-stands-alone',
      severity: 'error',
      comment: 'Source never imports tests, benchmarks, examples or scripts.',
      from: { path: '^src/' },
      to: { path: '^(test|bench|examples|scripts|dashboard)/' },
    },
    {
      name: 'no-cycles',
      severity: 'error',
      comment: 'A cycle hides which module is the lower one. Types count too.',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      comment: 'A module that imports nothing and is imported by nothing is forgotten.',
      from: { orphan: true, path: '^(src|test)/', pathNot: UNIT_TEST },
      to: {},
    },
    {
      name: 'resolvable',
      severity: 'error',
      comment: 'Every import leads to a file or a declared package. The packages of bench may be absent.',
      from: {},
      to: { couldNotResolve: true, pathNot: Object.keys(bench.dependencies).map((name) => `^${name}$`) },
    },
    {
      name: 'declared-packages',
      severity: 'error',
      comment: 'Published code uses only packages that are installed with it, or peers that it declares.',
      from: { path: '^src/', pathNot: UNIT_TEST },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'npm-optional'],
        pathNot: Object.keys(manifest.peerDependencies).map((name) => `^node_modules/${name}/`),
      },
    },
    {
      name: 'no-deprecated-modules',
      severity: 'error',
      comment: 'Deprecated modules of Node go away without notice.',
      from: {},
      to: { dependencyTypes: ['deprecated'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|coverage|dashboard)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
    cache: false,
  },
}
