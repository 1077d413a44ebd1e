/** Processes that are killed at any moment and started again, until they are asked to stop. */
import { spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Random } from '../../src/runtime/seeded-random.fixture.ts'
import { COMPILE_CACHE } from '../compile-cache.ts'

export interface MemberPlan {
  readonly name: string
  readonly program: URL
  readonly args: readonly string[]
}

/** How long a process that is asked to stop may take before that counts as a failure. */
const STOP_LIMIT_MS = 60_000

export class Member {
  readonly plan: MemberPlan
  readonly #process: ChildProcessWithoutNullStreams
  readonly #exited: Promise<unknown>
  readonly #isReady: Promise<boolean>
  #errorText = ''

  /** `ahead` is a module that the process loads before its program. */
  constructor(plan: MemberPlan, ahead?: URL) {
    this.plan = plan
    const imports = ahead === undefined ? [] : ['--import', ahead.href]
    // Node itself warns of features that it calls experimental; what is asserted to be empty is what is left.
    const args = ['--disable-warning=ExperimentalWarning', ...imports, fileURLToPath(plan.program), ...plan.args]
    this.#process = spawn(process.execPath, args, { env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE } })
    this.#process.stderr.setEncoding('utf8').on('data', (text: string) => (this.#errorText += text))
    // A killed process no longer reads; what was on its way to it is of no interest.
    this.#process.stdin.on('error', () => undefined)
    this.#exited = once(this.#process, 'close')
    const firstLine = once(createInterface(this.#process.stdout), 'line').then(() => true)
    this.#isReady = Promise.race([firstLine, this.#exited.then(() => false)])
  }

  /** Resolves once the process has reported that it is ready; false if it ended before. */
  get isReady(): Promise<boolean> {
    return this.#isReady
  }

  /** What it wrote to its error output. */
  get errorText(): string {
    return this.#errorText
  }

  get hasEndedWell(): boolean {
    return this.#process.exitCode === 0
  }

  /** The end in words; undefined while it runs. */
  get ending(): string | undefined {
    const { exitCode, signalCode } = this.#process
    return signalCode ?? (exitCode === null ? undefined : `exit code ${exitCode}`)
  }

  get exited(): Promise<unknown> {
    return this.#exited
  }

  send(line: string): void {
    this.#process.stdin.write(`${line}\n`)
  }

  async kill(): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.#exited
  }

  /** Stops the process at any point, by SIGSTOP. */
  halt(): void {
    this.#process.kill('SIGSTOP')
  }

  /** Resumes it after a stop. */
  goOn(): void {
    this.#process.kill('SIGCONT')
  }

  async pause(ms: number): Promise<void> {
    this.halt()
    await Promise.race([sleep(ms), this.#exited])
    this.goOn()
  }

  /** Asks it to end what it is doing, waits for that, and loses patience in the end. */
  async stop(): Promise<void> {
    this.#process.kill('SIGTERM')
    const limit = setTimeout(() => this.#process.kill('SIGKILL'), STOP_LIMIT_MS)
    await this.#exited
    clearTimeout(limit)
  }
}

export class Fleet implements AsyncDisposable {
  readonly #random: Random
  readonly #ahead: URL | undefined
  readonly #running = new Map<string, Member>()
  /** What went wrong besides what the fleet did itself. */
  readonly complaints: string[] = []
  killCount = 0
  pauseCount = 0

  /** `ahead` is a module that each process loads before its program. */
  constructor(random: Random, ahead?: URL) {
    this.#random = random
    this.#ahead = ahead
  }

  start(plan: MemberPlan): Member {
    const member = new Member(plan, this.#ahead)
    this.#running.set(plan.name, member)
    void member.exited.then(() => {
      if (this.#running.get(plan.name) === member) this.#complain(member, `ended by itself: ${member.ending}`)
    })
    return member
  }

  /** Resolves when each process that runs now is ready or has ended. */
  async untilReady(): Promise<void> {
    await Promise.all([...this.#running.values()].map((member) => member.isReady))
  }

  /** Kills one of the processes whose names begin with this, at any point, and restarts it. */
  async killAny(name = ''): Promise<void> {
    const member = this.#random.pick([...this.#running.values()].filter(({ plan }) => plan.name.startsWith(name)))
    await this.kill(member)
    this.start(member.plan)
  }

  /** Holds up one of those whose names begin with this for so long that others take over from it. */
  pauseAny(prefix: string, ms: number): void {
    const member = this.#random.pick(this.#named(prefix))
    this.pauseCount += 1
    void member.pause(ms)
  }

  /** Kills this one and leaves it dead. */
  async kill(member: Member): Promise<void> {
    this.#running.delete(member.plan.name)
    await member.kill()
    this.killCount += 1
    this.#hear(member)
  }

  /** Kills all at once and leaves them dead. */
  async killAll(): Promise<void> {
    await Promise.all([...this.#running.values()].map((member) => this.kill(member)))
  }

  /** Ends those whose names begin with this, the way an operator does. */
  async stop(prefix: string): Promise<void> {
    await Promise.all(this.#named(prefix).map((member) => this.#stop(member)))
  }

  /** Nothing outlives the fleet. */
  async [Symbol.asyncDispose](): Promise<void> {
    const members = [...this.#running.values()]
    this.#running.clear()
    await Promise.all(members.map((member) => member.kill()))
  }

  /** Waits for one that ends by itself when its work is done. */
  async leave(member: Member): Promise<void> {
    this.#running.delete(member.plan.name)
    await member.exited
    if (!member.hasEndedWell) this.#complain(member, `did not end well: ${member.ending}`)
    this.#hear(member)
  }

  #named(prefix: string): Member[] {
    return [...this.#running.values()].filter((member) => member.plan.name.startsWith(prefix))
  }

  async #stop(member: Member): Promise<void> {
    // A process that is still being loaded has no ear for a request to stop.
    await member.isReady
    const stopped = this.leave(member)
    await member.stop()
    await stopped
  }

  #hear(member: Member): void {
    if (member.errorText !== '') this.#complain(member, member.errorText)
  }

  #complain(member: Member, text: string): void {
    this.complaints.push(`${member.plan.name}: ${text}`)
  }
}
