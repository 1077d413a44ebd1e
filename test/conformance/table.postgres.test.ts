import { tableConforms } from './table-conformance.ts'
import { postgresTargets } from './targets.ts'

tableConforms(postgresTargets)
