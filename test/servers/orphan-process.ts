/** Starts servers in every state, tells of them and waits to be killed. */
import { startServer } from './server.ts'

const running = await startServer()
const paused = await startServer({ program: 'redis-server' })
const killed = await startServer()
paused.pause()
await killed.kill()
const told = [running, paused, killed].map(({ port, folder }) => ({ port, folder }))
process.stdout.write(`${JSON.stringify(told)}\n`)
