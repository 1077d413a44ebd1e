import { newPlace, versions } from '../postgres/places.ts'
import { levelConforms } from './level-spec.ts'

levelConforms(versions.map((version) => ({ name: version, newLocation: () => newPlace(version).location })))
