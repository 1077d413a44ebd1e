import { newPlace, versions } from '../postgres/places.ts'
import { levelConforms } from './level-spec.ts'
import { rollingUpgradeConforms } from './rolling-upgrade-spec.ts'

const targets = versions.map((version) => ({ name: version, newLocation: () => newPlace(version).location }))

levelConforms(targets)
rollingUpgradeConforms(targets)
