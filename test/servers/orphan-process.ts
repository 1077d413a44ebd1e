/** Starts servers in every state, prints them and waits to be killed. */
import { startServer } from './server.ts'

const running = await startServer()
const paused = await startServer({ program: 'redis-server' })
const killed = await startServer()
const told = [running, paused, killed].map(({ port, folder, pid }) => ({ port, folder, pids: [pid] }))
paused.pause()
await killed.kill()
process.stdout.write(`${JSON.stringify(told)}\n`)
