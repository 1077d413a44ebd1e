/**
 * Imports go one way: kernel ← stores ← engine, client ← worker ← fabric ← cli. The runtime may be imported by all but the kernel,
 * and the files directly under src join the layers into the published package. Unit tests and their fixtures
 * may import anything.
 */
const UNIT_TEST = '[.](test|fixture)[.]ts$'

/** What each folder of src may import from the others. */
const layers = {
  kernel: [],
  runtime: [],
  stores: ['kernel', 'runtime'],
  engine: ['kernel', 'runtime', 'stores'],
  client: ['kernel', 'runtime', 'stores'],
  worker: ['kernel', 'runtime', 'stores', 'client'],
  fabric: ['kernel', 'runtime', 'stores', 'engine', 'client', 'worker'],
  testing: ['kernel', 'runtime', 'stores', 'engine', 'client', 'worker', 'fabric'],
  cli: ['kernel', 'runtime', 'stores', 'engine', 'client', 'worker', 'fabric'],
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

/** The rooms of the kernel, each with the rooms that it may import. `contract` stands for the files of the transaction interface. */
const kernelRooms = {
  model: [],
  rules: ['model'],
  lifecycle: ['model', 'rules'],
  'lifecycle/flows': ['model', 'rules', 'lifecycle'],
  'lifecycle/journal': ['model', 'rules', 'lifecycle'],
  'lifecycle/endings': ['model', 'rules', 'lifecycle', 'lifecycle/flows', 'lifecycle/journal'],
  'operations/executions': ['model', 'rules', 'lifecycle/.*'],
  // A claim runs what is due before it looks for work.
  'operations/leases': ['model', 'rules', 'lifecycle/.*', 'operations/due'],
  'operations/flows': ['model', 'rules', 'lifecycle/.*'],
  'operations/journal': ['model', 'rules', 'lifecycle/.*'],
  'operations/due': ['model', 'rules', 'lifecycle/.*'],
  'operations/upkeep': ['model', 'rules', 'lifecycle/.*'],
}

/** The files of the kernel that belong to no room: constants without imports, and what every operation is written against. */
const kernelConstants = '^src/kernel/(limits|errors)[.]ts$'
const kernelContract = '^src/kernel/(limits|errors|tx|results)[.]ts$'

const kernelRoomRules = Object.entries(kernelRooms).map(([room, others]) => ({
  name: `kernel-${room.replace('/', '-')}`,
  severity: 'error',
  comment: `src/kernel/${room} may import from the kernel only: ${['the contract', ...others].join(', ')}.`,
  from: { path: `^src/kernel/${room}/[^/]+$`, pathNot: UNIT_TEST },
  to: {
    path: '^src/kernel/',
    pathNot: [
      room === 'model' ? kernelConstants : kernelContract,
      ...[room, ...others].map((name) =>
        name.endsWith('/.*') ? `^src/kernel/${name.slice(0, -3)}/` : `^src/kernel/${name}/[^/]+$`,
      ),
    ],
  },
}))

module.exports = {
  forbidden: [
    ...layerRules,
    ...kernelRoomRules,
    {
      name: 'kernel-contract',
      severity: 'error',
      comment: 'The transaction interface and the results know what is stored, and no rule or operation.',
      from: { path: kernelContract },
      to: { path: '^src/kernel/', pathNot: [kernelContract, '^src/kernel/model/'] },
    },
    {
      name: 'kernel-rooms',
      severity: 'error',
      comment: 'A new folder of the kernel needs its place among the rooms.',
      from: {
        path: '^src/kernel/.+/[^/]+$',
        pathNot: Object.keys(kernelRooms).map((room) => `^src/kernel/${room}/[^/]+$`),
      },
      to: {},
    },
    {
      name: 'kernel-is-alone',
      severity: 'error',
      comment: 'The kernel is pure: packages and the modules of Node are for the layers around it.',
      from: { path: '^src/kernel/', pathNot: UNIT_TEST },
      to: { pathNot: '^src/' },
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
      comment: 'Every import leads to a file or a declared package.',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'declared-packages',
      severity: 'error',
      comment: 'Published code uses only packages that are installed with it.',
      from: { path: '^src/', pathNot: UNIT_TEST },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'npm-optional'] },
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
