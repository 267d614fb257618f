// Reads a GitHub Actions workflow and lists the steps of each job, with its matrix expanded. play-workflow.ts
// runs them. An unsupported key or expression is an error, because a step must not silently behave
// differently than on GitHub.
import { parse } from 'yaml'

type Condition = 'success' | 'failure' | 'always'
export type Values = Record<string, string>
type CommonStep = { title: string; condition: Condition; env: Values; timeoutMinutes: number | null }
export type RunStep = CommonStep & { run: string; shell: readonly string[]; folder: string }
export type UsesStep = CommonStep & { uses: string; inputs: Values }
export type Step = RunStep | UsesStep
/** The hosted image, or a Debian container that runs on it. */
export type Machine = 'hosted' | 'container'
export type Job = { id: string; name: string; machine: Machine; timeoutMinutes: number; steps: Step[] }

type Mapping = Record<string, unknown>
type RunDefaults = { shell: string; folder: string }
type Scope = { at: string; matrix: Values; env: Values; defaults: RunDefaults }

const runnerLabels = ['ubuntu-24.04', 'ubuntu-latest']
/** The command that GitHub starts for each value of `shell`, without the script argument. */
const shellCommands: Record<string, string[]> = {
  default: ['bash', '-e'],
  bash: ['bash', '--noprofile', '--norc', '-eo', 'pipefail'],
  sh: ['sh', '-e'],
}
const conditions: Record<string, Condition> = {
  'success()': 'success',
  'failure()': 'failure',
  'always()': 'always',
  // When the player stops, it stops all its steps, so a step is never canceled separately.
  '!cancelled()': 'always',
}
/** GitHub's limit for a job without timeout-minutes. */
const maxJobMinutes = 360

/** Lists the jobs of a workflow; throws an error that names the first part that the workflow player does not support. */
export function planWorkflow(text: string): Job[] {
  const workflow = toMapping(parse(text), 'workflow')
  // The first four keys decide when a workflow starts and which permissions its token has. They do not affect the
  // steps.
  rejectOtherKeys(
    workflow,
    ['name', 'on', 'permissions', 'concurrency', 'env', 'defaults', 'jobs'],
    'workflow',
  )
  const at = 'workflow'
  const outerScope = { at, matrix: {}, env: {}, defaults: { shell: 'default', folder: '.' } }
  const scope = {
    ...outerScope,
    env: readValues(workflow['env'], outerScope),
    defaults: readDefaults(workflow, outerScope),
  }
  const jobs = Object.entries(toMapping(workflow['jobs'], 'jobs'))
  return jobs.flatMap(([id, job]) => planJob(id, toMapping(job, `job ${id}`), scope))
}

function planJob(id: string, job: Mapping, outerScope: Scope): Job[] {
  const at = `job ${id}`
  const supportedKeys = [
    'name',
    'runs-on',
    'timeout-minutes',
    'permissions',
    'strategy',
    'env',
    'defaults',
    'steps',
    'container',
  ]
  rejectOtherKeys(job, supportedKeys, at)
  const label = readText(job['runs-on'], '', at)
  if (!runnerLabels.includes(label))
    throw new Error(
      `${at}: the workflow player does not support runs-on ${label}. Use ${runnerLabels.join(' or ')}.`,
    )
  if (!Array.isArray(job['steps'])) throw new Error(`${at}: steps is not a list`)
  const steps = job['steps'].map((step, index) => toMapping(step, `${at}, step ${index + 1}`))
  return expandMatrix(job['strategy'], at).map((matrix) => {
    const innerScope = { ...outerScope, at, matrix }
    const env = { ...outerScope.env, ...readValues(job['env'], innerScope) }
    const scope = { ...innerScope, env, defaults: readDefaults(job, innerScope) }
    const values = Object.values(matrix).join(', ')
    return {
      id,
      name: values === '' ? id : `${id} (${values})`,
      machine: readMachine(job['container'], at),
      timeoutMinutes: readMinutes(job, at) ?? maxJobMinutes,
      steps: steps.map((step, index) => planStep(step, { ...scope, at: `${at}, step ${index + 1}` })),
    }
  })
}

function planStep(step: Mapping, scope: Scope): Step {
  const { at } = scope
  const commonFields = {
    condition: readCondition(step['if'], at),
    env: { ...scope.env, ...readValues(step['env'], scope) },
    timeoutMinutes: readMinutes(step, at),
  }
  if (step['uses'] !== undefined) {
    rejectOtherKeys(step, ['name', 'uses', 'with', 'if', 'env', 'timeout-minutes'], at)
    const uses = readText(step['uses'], '', at)
    const title = readText(step['name'], uses, at)
    return { ...commonFields, title, uses, inputs: readValues(step['with'], { ...scope, at: `${at}, with` }) }
  }
  rejectOtherKeys(step, ['name', 'run', 'shell', 'working-directory', 'if', 'env', 'timeout-minutes'], at)
  const run = resolveExpressions(readText(step['run'], '', at), scope)
  if (run.trim() === '') throw new Error(`${at}: the step has neither run nor uses`)
  const file = /GITHUB_(?:ENV|PATH|OUTPUT)/.exec(run)?.[0]
  if (file !== undefined) throw new Error(`${at}: the workflow player does not support ${file}`)
  const shell = shellCommands[readShell(step['shell'], scope, at)] ?? []
  const folder = readText(step['working-directory'], scope.defaults.folder, at)
  const title = readText(step['name'], run.trim().split('\n')[0] ?? '', at)
  return { ...commonFields, title, run, shell, folder: resolveExpressions(folder, scope) }
}

/** Returns one entry per job of the matrix, or a single empty entry if there is no matrix. */
function expandMatrix(strategy: unknown, at: string): Values[] {
  if (strategy === undefined) return [{}]
  const strategyMapping = toMapping(strategy, `${at}, strategy`)
  // The player ignores fail-fast and max-parallel: it runs every job, one after another.
  rejectOtherKeys(strategyMapping, ['matrix', 'fail-fast', 'max-parallel'], `${at}, strategy`)
  let combinations: Values[] = [{}]
  for (const [key, list] of Object.entries(toMapping(strategyMapping['matrix'], `${at}, matrix`))) {
    if (key === 'include' || key === 'exclude' || !Array.isArray(list) || !list.every(isScalar))
      throw new Error(
        `${at}: the workflow player does not support the matrix key ${key}: only lists of plain values are supported`,
      )
    combinations = combinations.flatMap((values) =>
      list.map((value) => ({ ...values, [key]: String(value) })),
    )
  }
  return combinations
}

function readDefaults(owner: Mapping, scope: Scope): RunDefaults {
  if (owner['defaults'] === undefined) return scope.defaults
  const at = `${scope.at}, defaults`
  const defaults = toMapping(owner['defaults'], at)
  rejectOtherKeys(defaults, ['run'], at)
  const run = toMapping(defaults['run'], at)
  rejectOtherKeys(run, ['shell', 'working-directory'], at)
  return {
    shell: readShell(run['shell'], scope, at),
    folder: readText(run['working-directory'], scope.defaults.folder, at),
  }
}

/**
 * Returns the machine of a job. Only privileged containers are supported: their root user has the same rights as root
 * on the machine.
 */
function readMachine(container: unknown, at: string): Machine {
  if (container === undefined) return 'hosted'
  const { image, options, ...others } = toMapping(container, `${at}, container`)
  rejectOtherKeys(others, [], `${at}, container`)
  if (image !== 'debian:bookworm')
    throw new Error(`${at}: the workflow player does not support the image ${JSON.stringify(image)}`)
  if (!/^--privileged(?: --shm-size=\d+g)?$/.test(readText(options, '', at)))
    throw new Error(`${at}: unsupported container options; only --privileged and --shm-size are supported`)
  return 'container'
}

function readShell(value: unknown, { defaults }: Scope, at: string): string {
  const shell = readText(value, defaults.shell, at)
  if (shellCommands[shell] === undefined)
    throw new Error(`${at}: the workflow player does not support shell ${shell}`)
  return shell
}

function readCondition(value: unknown, at: string): Condition {
  if (value === undefined) return 'success'
  const expression = readText(value, '', at)
    .replace(/^\$\{\{(.*)\}\}$/, '$1')
    .trim()
  const condition = conditions[expression]
  if (condition === undefined)
    throw new Error(
      `${at}: the workflow player does not support if: ${expression}. Use ${Object.keys(conditions).join(', ')}.`,
    )
  return condition
}

function readMinutes(owner: Mapping, at: string): number | null {
  const minutes = owner['timeout-minutes']
  if (minutes === undefined) return null
  if (typeof minutes !== 'number') throw new Error(`${at}: timeout-minutes is not a number`)
  return minutes
}

function readValues(value: unknown, scope: Scope): Values {
  if (value === undefined) return {}
  const entries = Object.entries(toMapping(value, `${scope.at}, env`))
  return Object.fromEntries(
    entries.map(([key, text]) => [key, resolveExpressions(readText(text, '', scope.at), scope)]),
  )
}

/** Replaces expressions in the text. Only matrix values are supported. */
function resolveExpressions(text: string, { at, matrix }: Scope): string {
  return text.replaceAll(/\$\{\{(.*?)\}\}/g, (whole, expression: string) => {
    const value = matrix[/^ *matrix\.([\w-]+) *$/.exec(expression)?.[1] ?? '']
    if (value === undefined) throw new Error(`${at}: cannot evaluate ${whole}`)
    return value
  })
}

function readText(value: unknown, fallback: string, at: string): string {
  if (value === undefined) return fallback
  if (!isScalar(value)) throw new Error(`${at}: expected a string, got ${JSON.stringify(value)}`)
  return String(value)
}

const isScalar = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value)

function toMapping(value: unknown, at: string): Mapping {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${at}: expected a mapping`)
  return value as Mapping
}

function rejectOtherKeys(mapping: Mapping, supportedKeys: readonly string[], at: string): void {
  const unsupportedKey = Object.keys(mapping).find((key) => !supportedKeys.includes(key))
  if (unsupportedKey !== undefined)
    throw new Error(`${at}: the workflow player does not support ${unsupportedKey}`)
}
