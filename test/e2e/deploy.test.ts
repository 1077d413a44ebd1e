import { describe } from 'vitest'
import { testRollingDeploy } from './rolling-deploy.ts'

describe('on a SQLite file', () => {
  testRollingDeploy(() => ({}))
})
