// Finds the project, app, environment or tenant that contains the rows of a command. An option names it, otherwise an
// environment variable, otherwise the link of the working folder.
import type { Connection } from '@manager/client'
import type { Command } from 'commander'
import { type Context, getEnvValue } from './context.ts'
import { Failure } from './failures.ts'
import { findLink } from './links.ts'
import type { Parent } from './resource.ts'
import { apps } from './resources/apps.ts'
import { environments } from './resources/environments.ts'
import { projects } from './resources/projects.ts'
import { tenants } from './resources/tenants.ts'
import { type ParentRow, getRow, isId } from './rows.ts'
import { type UsedKind, recordUse } from './used-objects.ts'

export type ParentOptions = { project?: string; app?: string; environment?: string; tenant?: string }

export const parentDescriptions = {
  project: 'the project, by slug or id (SVC_PROJECT)',
  app: 'the app, by slug or id (SVC_APP)',
  environment: 'the environment: dev, qas or run (SVC_ENVIRONMENT)',
  tenant: 'the tenant, by slug or id',
}
/** The kinds that a variable or a link can name, with their variables. */
export const parentVariables = {
  project: 'SVC_PROJECT',
  app: 'SVC_APP',
  environment: 'SVC_ENVIRONMENT',
} as const satisfies Partial<Record<UsedKind, string>>

/** Adds the options that name the parent. */
export function addParentOptions(command: Command, parent: Parent | null): Command {
  if (parent === null) return command
  command.option('-p, --project <project>', parentDescriptions.project)
  if (parent === 'app') command.option('-a, --app <app>', parentDescriptions.app)
  if (parent === 'environment') command.option('-e, --environment <name>', parentDescriptions.environment)
  if (parent === 'tenant') command.option('-t, --tenant <tenant>', parentDescriptions.tenant)
  return command
}

/** Returns the parent options for help examples. */
export const getParentExample = (parent: Parent | null): string =>
  ({
    none: '',
    project: ' -p shop',
    app: ' -p shop -a web',
    environment: ' -p shop -e dev',
    tenant: ' -p shop -t acme',
  })[parent ?? 'none']

/** The name or id of an object. `source` is the variable or the link that it comes from; null for an option. */
type Named = { named: string; source: string | null; isLink?: boolean }

async function findNamed(
  { terminal }: Context,
  { url }: Connection,
  kind: UsedKind,
  options: ParentOptions,
): Promise<Named | null> {
  const option = options[kind]
  if (option !== undefined) return { named: option, source: null }
  if (kind === 'tenant') return null
  const variable = parentVariables[kind]
  const value = getEnvValue(terminal, variable)
  if (value !== undefined) return { named: value, source: variable }
  // The app and the environment of a link belong to its project.
  const hasOtherProject = (options.project ?? getEnvValue(terminal, parentVariables.project)) !== undefined
  if (kind !== 'project' && hasOtherProject) return null
  const link = await findLink(terminal)
  // An installation for tests can have a project with the same name.
  const linked = link !== null && link.url === url ? link[kind] : undefined
  return linked === undefined || link === null
    ? null
    : { named: linked.id, source: `link of ${link.folder}`, isLink: true }
}

/** Returns the row of a project, app or environment, and records that the command uses it. */
async function getUsedRow(
  { terminal, signal }: Context,
  connection: Connection,
  { kind, named, source, isLink = false }: Named & { kind: UsedKind },
  project: ParentRow | null,
): Promise<ParentRow> {
  try {
    const { id, slug, name } = await getRow(connection, resources[kind], project, { named, signal })
    recordUse(terminal, kind, { name: String(slug ?? name), source })
    return { id: id as string, slug: slug as string }
  } catch (error) {
    if (source === null || !(error instanceof Failure) || error.kind !== 'notFound') throw error
    const hint = isLink ? ' To link the folder again, run: svc link --project <project>' : ''
    throw new Failure('notFound', `${error.message}. The ${kind} is from: ${source}.${hint}`)
  }
}

const resources = { project: projects, app: apps, environment: environments, tenant: tenants }

/** Returns the project that the options, SVC_PROJECT or the link of the folder name. */
export async function getProject(
  context: Context,
  connection: Connection,
  options: ParentOptions,
): Promise<ParentRow> {
  const named = await findNamed(context, connection, 'project', options)
  if (named === null)
    throw new Failure(
      'usage',
      'The project is missing. Pass --project <slug or id>, set SVC_PROJECT, or link this folder: svc link --project <project>',
    )
  return getUsedRow(context, connection, { kind: 'project', ...named }, null)
}

/** Returns the parent row, or null if the resource has no parent. */
export async function getParent(
  context: Context,
  connection: Connection,
  parent: Parent | null,
  options: ParentOptions,
): Promise<ParentRow | null> {
  if (parent === null) return null
  if (parent === 'project') return getProject(context, connection, options)
  const named = await findNamed(context, connection, parent, options)
  if (named === null) throw createMissingFailure(parent)
  // An id can be looked up without its project.
  if (isId(named.named) && named.isLink !== true) {
    recordUse(context.terminal, parent, { name: named.named, source: named.source })
    return { id: named.named }
  }
  const project = await getProject(context, connection, options)
  return getUsedRow(context, connection, { kind: parent, ...named }, project)
}

function createMissingFailure(parent: Exclude<Parent, 'project'>): Failure {
  const start = `The ${parent} is missing. Pass --${parent} <name or id>`
  if (parent === 'tenant') return new Failure('usage', `${start}.`)
  const link = `svc link --project <project> --${parent} <name>`
  return new Failure('usage', `${start}, set ${parentVariables[parent]}, or link this folder: ${link}`)
}
