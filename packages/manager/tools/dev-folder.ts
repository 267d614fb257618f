// The folder of `npm run dev`, or of `npm run demo`, belongs to one run at a time. A file in it names the processes of this
// run, so that a second run knows of the first, and the next one ends what a killed run has left behind.
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

/** A process by its id and the time of its start: another one that gets the same id later is not taken for it. */
type OwnedProcess = { pid: number; started: string | null }
type Claim = { port: string; run: OwnedProcess; children: OwnedProcess[] }
/** `add` notes a process that leads a group of its own and is to be ended with this run. */
export type DevFolder = { add: (pid: number) => void; release: () => void }

// The service and Redis need up to this long to end; then they are killed.
const endTimeoutMs = 30_000

/**
 * Claims the folder, making it when there is none; throws when another run has it. Processes of a killed run are ended first.
 * `owners` are the users whose folder it may be.
 */
export async function claimFolder(
  dir: string,
  port: string,
  owners: number[],
  command = 'npm run dev',
): Promise<DevFolder> {
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  if (!owners.includes(lstatSync(dir).uid))
    throw new Error(`${dir} belongs to another user: remove it, or set TMPDIR to a folder of your own`)
  const file = `${dir}/processes.json`
  const claim: Claim = { port, run: ownedProcess(process.pid), children: [] }
  while (!isCreated(file, JSON.stringify(claim))) {
    const { port: otherPort, run, children } = JSON.parse(readFileSync(file, 'utf8')) as Claim
    if (isRunning(run))
      throw new Error(
        `${command} is already running (process ${run.pid}): use it at http://localhost:${otherPort}, or stop it first`,
      )
    for (const child of children.toReversed()) await end(child)
    rmSync(file, { force: true })
  }
  return {
    add: (pid) => {
      claim.children.push(ownedProcess(pid))
      // Replaced as a whole: a killed run must not leave half a list.
      writeFileSync(`${file}.new`, JSON.stringify(claim))
      renameSync(`${file}.new`, file)
    },
    release: () => rmSync(file, { force: true }),
  }
}

/** Writes the file unless there is one. */
function isCreated(file: string, text: string): boolean {
  try {
    writeFileSync(file, text, { flag: 'wx' })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function end(one: OwnedProcess): Promise<void> {
  if (isRunning(one)) process.kill(one.pid, 'SIGTERM')
  for (let waitedMs = 0; isRunning(one) && waitedMs < endTimeoutMs; waitedMs += 50) await sleep(50)
  if (isRunning(one)) process.kill(-one.pid, 'SIGKILL')
}

const ownedProcess = (pid: number): OwnedProcess => ({ pid, started: startOf(pid) })
const isRunning = ({ pid, started }: OwnedProcess): boolean => started !== null && startOf(pid) === started

/** When the process started, in ticks of the machine; null when there is none. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Behind the name, which may hold anything: the state first, the time of the start as the twentieth.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return fields[0] === 'Z' ? null : (fields[19] ?? null)
  } catch {
    return null
  }
}
