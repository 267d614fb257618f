// Runs the jobs of a workflow on this machine, as an unprivileged user in a clean clone (see `--help`). Local commands
// replace actions (workflow-actions.ts), and a file tree that mmdebstrap builds replaces the hosted image
// (runner-root.ts).
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { type Tree, buildTree, copyTree, startInTree } from './runner-root.ts'
import { type ActionContext, findAction } from './workflow-actions.ts'
import { type Job, type Machine, type RunStep, type Step, planWorkflow } from './workflow-plan.ts'

const help = `Usage: node packages/manager/tools/play-workflow.ts <workflow file> [options]

Runs the steps of each job as an unprivileged user in a clean clone of the last commit, inside a Debian file tree like
a hosted runner. A job with a container runs as root in a minimal tree. Prints one line per step with its time. Exits 1
if a job fails. Requires root, Debian and mmdebstrap.

Play only workflows that you trust: apt-get with sudo can run any command as root, and steps can read the npm settings
of this machine.

Differences from a hosted runner: Debian instead of Ubuntu; sudo runs only apt-get; packages start no services;
processes that a step leaves running are killed; jobs run one after another and start without an npm cache.

Options:
  --job <id>            runs only this job; "test" selects a whole matrix, "test (2)" one job of it; can be repeated
  --stop-before <text>  runs each job up to the first step whose title or command contains the text
  --artifacts <folder>  copies uploaded artifacts there
  --logs <folder>       writes the output of each step there; without it, prints only the end of a failed step
  --list                prints the steps without running them
  --help                prints this text

Examples:
  $ node packages/manager/tools/play-workflow.ts .github/workflows/ci.yml --job check
  $ node packages/manager/tools/play-workflow.ts .github/workflows/nightly.yml --stop-before test:nightly
`

const repository = new URL('../../../', import.meta.url).pathname
const systemPath = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
const printedLines = 60
const print = (line: string): void => void process.stdout.write(`${line}\n`)
const secondsSince = (startedAt: number): string => `${((Date.now() - startedAt) / 1000).toFixed(1)} s`

type Options = { jobs: string[]; stopBefore?: string; artifacts: string | null; logs?: string }
type Play = { job: Job; context: ActionContext; logs: string; deadline: number }

/** Returns the jobs with the steps to run. Throws before any step runs if a step has no local command. */
function chooseJobs(text: string, { jobs: wanted, stopBefore }: Options): Job[] {
  const jobs = planWorkflow(text)
  const unknown = wanted.find((name) => !jobs.some((job) => job.id === name || job.name === name))
  if (unknown !== undefined)
    throw new Error(
      `The workflow has no job ${unknown}. Its jobs: ${jobs.map(({ name }) => name).join(', ')}.`,
    )
  const isWanted = ({ id, name }: Job): boolean =>
    wanted.length === 0 || wanted.includes(id) || wanted.includes(name)
  const chosen = jobs.filter(isWanted).map((job) => ({ ...job, steps: stepsUntil(job, stopBefore) }))
  for (const step of chosen.flatMap(({ steps }) => steps)) if ('uses' in step) findAction(step)
  return chosen
}

function stepsUntil({ name, steps }: Job, text: string | undefined): Step[] {
  if (text === undefined) return steps
  const end = steps.findIndex(
    (step) => step.title.includes(text) || ('run' in step && step.run.includes(text)),
  )
  if (end === -1) throw new Error(`Job ${name} has no step that contains ${text}.`)
  return steps.slice(0, end)
}

/**
 * Creates a folder that is removed even if this process is killed: a separate process removes it when its pipe closes.
 * The namespaces stop asynchronously, so that process retries until all processes in them have exited.
 */
function makeWorkFolder(): { folder: string; remove: () => Promise<void> } {
  const folder = mkdtempSync(path.join(tmpdir(), 'manager-workflow-'))
  const script = 'cat; for try in 1 2 3 4 5 6 7 8 9; do rm -rf --one-file-system "$1" && exit; sleep 1; done'
  const remover = spawn('sh', ['-c', script, 'sh', folder], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  })
  const removed = once(remover, 'exit')
  const remove = async (): Promise<void> => {
    remover.stdin.end()
    await removed
  }
  return { folder, remove }
}

async function playJob({ job, context, logs, deadline }: Play): Promise<boolean> {
  let hasFailed = false
  for (const [index, step] of job.steps.entries()) {
    const label = `${job.name} / ${step.title}`
    if (step.condition !== 'always' && (step.condition === 'failure') !== hasFailed) {
      print(`skipped ${label}`)
      continue
    }
    const startedAt = Date.now()
    const log = path.join(logs, `${job.name} ${index + 1}.log`.replaceAll(/[^\w.]+/g, '-'))
    writeFileSync(log, '')
    const stepDeadline = Math.min(deadline, startedAt + (step.timeoutMinutes ?? Infinity) * 60_000)
    const problem = await playStep(step, { context, log, index, deadline: stepDeadline })
    print(`${problem === null ? 'passed ' : 'failed '} ${label}  ${secondsSince(startedAt)}`)
    if (problem === null) continue
    hasFailed = true
    const output = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-printedLines)
    print([...output, ...problem.trimEnd().split('\n')].map((line) => `        ${line}`).join('\n'))
  }
  return !hasFailed
}

type StepPlay = { context: ActionContext; log: string; index: number; deadline: number }

/** Runs one step. Returns the reason for its failure, or null. */
async function playStep(step: Step, play: StepPlay): Promise<string | null> {
  if ('run' in step) return playRun(step, play)
  try {
    findAction(step).run(step.inputs, play.context)
    return null
  } catch (error) {
    return (error as Error).message
  }
}

async function playRun(step: RunStep, { context, log, index, deadline }: StepPlay): Promise<string | null> {
  const { tree } = context
  // Only root can write to this folder: an earlier step cannot place a link there for this process to follow.
  const script = `/opt/steps/${index + 1}.sh`
  mkdirSync(`${tree.root}/opt/steps`, { recursive: true })
  writeFileSync(`${tree.root}${script}`, step.run)
  const child = startInTree({
    tree,
    folder: step.folder,
    command: [...step.shell, script],
    env: { PATH: [...context.path, ...systemPath].join(':'), ...step.env },
    log,
  })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    child.kill('SIGKILL')
  }, deadline - Date.now())
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  clearTimeout(timer)
  if (isLate) return 'The step exceeded its time limit.'
  return code === 0 ? null : `The step failed with ${signal ?? `exit code ${code}`}.`
}

/** Removes a tree in the background while the next job runs, because the tree has tens of thousands of files. */
function discard(root: string): void {
  const discarded = mkdtempSync(`${root}-discarded-`)
  renameSync(root, path.join(discarded, 'root'))
  spawn('rm', ['-rf', '--one-file-system', discarded], { stdio: 'ignore', detached: true }).unref()
}

/**
 * Returns a function that creates the tree of a job. The tree is built for the first job of its kind and copied for the
 * others.
 */
function createTrees(folder: string): (machine: Machine, isLast: boolean) => Tree {
  const built = new Set<Machine>()
  return (machine, isLast) => {
    const base = path.join(folder, machine)
    if (!built.has(machine)) {
      const startedAt = Date.now()
      buildTree({ root: base, machine })
      built.add(machine)
      print(`built the file tree of a ${machine} machine in ${secondsSince(startedAt)}`)
    }
    const root = path.join(folder, 'root')
    if (isLast) renameSync(base, root)
    else copyTree(base, root)
    return { root, machine }
  }
}

async function playJobs(jobs: readonly Job[], { artifacts, logs }: Options): Promise<boolean> {
  const { folder, remove } = makeWorkFolder()
  try {
    const prepareTree = createTrees(folder)
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: repository, encoding: 'utf8' }).trim()
    const logFolder = path.resolve(logs ?? path.join(folder, 'logs'))
    mkdirSync(logFolder, { recursive: true })
    let isGood = true
    for (const [index, job] of jobs.entries()) {
      const isLast = !jobs.slice(index + 1).some(({ machine }) => machine === job.machine)
      const tree = prepareTree(job.machine, isLast)
      const downloads = path.join(folder, 'downloads')
      const context = { tree, repository, commit, downloads, artifacts, path: [] }
      const jobStartedAt = Date.now()
      const deadline = jobStartedAt + job.timeoutMinutes * 60_000
      const hasPassed = await playJob({ job, context, logs: logFolder, deadline })
      print(`${job.name}: ${hasPassed ? 'passed' : 'FAILED'} in ${secondsSince(jobStartedAt)}`)
      isGood &&= hasPassed
      discard(tree.root)
    }
    return isGood
  } finally {
    await remove()
  }
}

function printSteps(jobs: readonly Job[]): void {
  for (const { name, steps } of jobs)
    for (const step of steps) {
      const commands = 'run' in step ? step.run.trimEnd().split('\n') : [`uses ${step.uses}`]
      print([`${name} / ${step.title}`, ...commands].join('\n    '))
    }
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      job: { type: 'string', multiple: true, default: [] },
      'stop-before': { type: 'string' },
      artifacts: { type: 'string' },
      logs: { type: 'string' },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const [file] = positionals
  if (values.help || file === undefined || positionals.length > 1) {
    process.stdout.write(help)
    return values.help ? 0 : 2
  }
  const { job, artifacts, logs } = values
  const options = { jobs: job, stopBefore: values['stop-before'], artifacts: artifacts ?? null, logs }
  const jobs = chooseJobs(readFileSync(file, 'utf8'), options)
  if (values.list) {
    printSteps(jobs)
    return 0
  }
  return (await playJobs(jobs, options)) ? 0 : 1
}

// When this process exits, even by a signal, the steps are killed and the folder is removed.
try {
  process.exitCode = await main()
} catch (error) {
  process.stderr.write(`error: ${(error as Error).message}\n`)
  process.exitCode = 2
}
