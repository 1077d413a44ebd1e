import { tableConforms } from './table-conformance.ts'
import { valkeyTargets } from './targets.ts'

tableConforms(valkeyTargets)
