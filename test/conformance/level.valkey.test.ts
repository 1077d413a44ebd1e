import { locations, newPrefix } from '../valkey/fabrics.ts'
import { levelConforms } from './level-spec.ts'

const { valkey, redis, cluster } = locations()
const servers = { valkey, redis, 'valkey cluster': cluster }

levelConforms(
  Object.entries(servers).map(([name, location]) => ({ name, newLocation: () => `${location}?prefix=${newPrefix()}` })),
)
