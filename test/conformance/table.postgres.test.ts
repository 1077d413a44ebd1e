import { tableConforms } from './table-conformance.ts'
import { postgresTargets } from './targets.ts'

// The rows show what the kernel does over this kind of store. How servers of the kind differ is shown by the other files.
tableConforms(postgresTargets)
