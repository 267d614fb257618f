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

Runs the steps of each job as an unprivileged user in a clean clone of the last commit, inside a Debian file tree
that resembles a hosted runner. A job with a container runs as root in a minimal tree. Prints one line per step with
its time. Exits 1 if a job fails. Requires root, Debian and mmdebstrap.

Play only workflows that you trust: apt-get with sudo can run any command as root, and steps can read the npm settings
of this machine.

Differences from a hosted runner: Debian instead of Ubuntu; sudo runs only apt-get; packages start no services;
processes that a step leaves running are killed; jobs run one after another and start without an npm cache.

Options:
  --job <id>            run only this job; "test" selects a whole matrix, "test (2)" one job of it; can be repeated
  --stop-before <text>  run each job up to the first step whose title or command contains the text
  --artifacts <folder>  copy uploaded artifacts to this folder
  --logs <folder>       write the output of each step to this folder; by default, print only the end of a failed step
  --list                print the steps without running them
  --help                print this text

Examples:
  $ node packages/manager/tools/play-workflow.ts .github/workflows/ci.yml --job check
  $ node packages/manager/tools/play-workflow.ts .github/workflows/nightly.yml --stop-before test:nightly
`

const repository = new URL('../../../', import.meta.url).pathname
const systemPath = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']
const maxPrintedLines = 60
const print = (line: string): void => void process.stdout.write(`${line}\n`)
const formatSecondsSince = (startedAt: number): string => `${((Date.now() - startedAt) / 1000).toFixed(1)} s`

type Options = { jobs: string[]; stopBefore?: string; artifacts: string | null; logs?: string }
type JobPlay = { job: Job; context: ActionContext; logs: string; deadline: number }

/** Returns the jobs with the steps to run. Throws before any step runs if a step has no local command. */
function chooseJobs(text: string, { jobs: requestedJobs, stopBefore }: Options): Job[] {
  const jobs = planWorkflow(text)
  const unknownJob = requestedJobs.find((name) => !jobs.some((job) => job.id === name || job.name === name))
  if (unknownJob !== undefined)
    throw new Error(
      `The workflow has no job ${unknownJob}. Available jobs: ${jobs.map(({ name }) => name).join(', ')}.`,
    )
  const isRequested = ({ id, name }: Job): boolean =>
    requestedJobs.length === 0 || requestedJobs.includes(id) || requestedJobs.includes(name)
  const chosenJobs = jobs
    .filter(isRequested)
    .map((job) => ({ ...job, steps: findStepsUntil(job, stopBefore) }))
  for (const step of chosenJobs.flatMap(({ steps }) => steps)) if ('uses' in step) findAction(step)
  return chosenJobs
}

function findStepsUntil({ name, steps }: Job, text: string | undefined): Step[] {
  if (text === undefined) return steps
  const endIndex = steps.findIndex(
    (step) => step.title.includes(text) || ('run' in step && step.run.includes(text)),
  )
  if (endIndex === -1) throw new Error(`Job ${name} has no step that contains ${text}.`)
  return steps.slice(0, endIndex)
}

/**
 * Creates a folder that is removed even if this process is killed: a separate process removes it when its
 * pipe closes. Processes in the namespaces stop asynchronously, so the separate process retries until they
 * have exited.
 */
function createWorkFolder(): { folder: string; remove: () => Promise<void> } {
  const folder = mkdtempSync(path.join(tmpdir(), 'manager-workflow-'))
  const script = 'cat; for try in 1 2 3 4 5 6 7 8 9; do rm -rf --one-file-system "$1" && exit; sleep 1; done'
  const remover = spawn('sh', ['-c', script, 'sh', folder], {
    stdio: ['pipe', 'ignore', 'inherit'],
    detached: true,
  })
  const removal = once(remover, 'exit')
  const remove = async (): Promise<void> => {
    remover.stdin.end()
    await removal
  }
  return { folder, remove }
}

async function playJob({ job, context, logs, deadline }: JobPlay): Promise<boolean> {
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
    print(`${problem === null ? 'passed ' : 'failed '} ${label}  ${formatSecondsSince(startedAt)}`)
    if (problem === null) continue
    hasFailed = true
    const output = readFileSync(log, 'utf8').trimEnd().split('\n').slice(-maxPrintedLines)
    print([...output, ...problem.trimEnd().split('\n')].map((line) => `        ${line}`).join('\n'))
  }
  return !hasFailed
}

type StepPlay = { context: ActionContext; log: string; index: number; deadline: number }

/** Runs one step. Returns the reason if it fails, or null. */
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
  // Only root can write to this folder, so an earlier step cannot place a symbolic link in it.
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
  let hasTimedOut = false
  const timer = setTimeout(() => {
    hasTimedOut = true
    child.kill('SIGKILL')
  }, deadline - Date.now())
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  clearTimeout(timer)
  if (hasTimedOut) return 'The step exceeded its time limit.'
  return code === 0 ? null : `The step failed with ${signal ?? `exit code ${code}`}.`
}

/** Removes a tree in the background while the next job runs, because the tree has tens of thousands of files. */
function discard(root: string): void {
  const discardFolder = mkdtempSync(`${root}-discarded-`)
  renameSync(root, path.join(discardFolder, 'root'))
  spawn('rm', ['-rf', '--one-file-system', discardFolder], { stdio: 'ignore', detached: true }).unref()
}

/**
 * Returns a function that creates the tree of a job. It builds one tree for each kind of machine and copies it for each
 * job. The last job of a kind uses the tree itself.
 */
function createTreeFactory(folder: string): (machine: Machine, isLast: boolean) => Tree {
  const builtMachines = new Set<Machine>()
  return (machine, isLast) => {
    const baseRoot = path.join(folder, machine)
    if (!builtMachines.has(machine)) {
      const startedAt = Date.now()
      buildTree({ root: baseRoot, machine })
      builtMachines.add(machine)
      print(`built the file tree for a ${machine} machine in ${formatSecondsSince(startedAt)}`)
    }
    const root = path.join(folder, 'root')
    if (isLast) renameSync(baseRoot, root)
    else copyTree(baseRoot, root)
    return { root, machine }
  }
}

async function playJobs(jobs: readonly Job[], { artifacts, logs }: Options): Promise<boolean> {
  const { folder, remove } = createWorkFolder()
  try {
    const prepareTree = createTreeFactory(folder)
    const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: repository, encoding: 'utf8' }).trim()
    const logFolder = path.resolve(logs ?? path.join(folder, 'logs'))
    mkdirSync(logFolder, { recursive: true })
    let haveAllPassed = true
    for (const [index, job] of jobs.entries()) {
      const isLast = !jobs.slice(index + 1).some(({ machine }) => machine === job.machine)
      const tree = prepareTree(job.machine, isLast)
      const downloads = path.join(folder, 'downloads')
      const context = { tree, repository, commit, downloads, artifacts, path: [] }
      const jobStartedAt = Date.now()
      const deadline = jobStartedAt + job.timeoutMinutes * 60_000
      const hasPassed = await playJob({ job, context, logs: logFolder, deadline })
      print(`${job.name}: ${hasPassed ? 'passed' : 'FAILED'} in ${formatSecondsSince(jobStartedAt)}`)
      haveAllPassed &&= hasPassed
      discard(tree.root)
    }
    return haveAllPassed
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
