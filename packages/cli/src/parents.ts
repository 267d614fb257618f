// The project, app or environment that the rows of a command belong to.
import type { Connection } from '@manager/client'
import type { Command } from 'commander'
import { type Context, envValue } from './context.ts'
import { Failure } from './failures.ts'
import type { Parent } from './resource.ts'
import { apps } from './resources/apps.ts'
import { environments } from './resources/environments.ts'
import { projects } from './resources/projects.ts'
import { type ParentRow, getRow, isId } from './rows.ts'

export type ParentOptions = { project?: string; app?: string; environment?: string }

const descriptions = {
  project: 'the project, by slug or id (SVC_PROJECT)',
  app: 'the app, by slug or id',
  environment: 'the environment: dev, qas or run',
}

/** Adds the options that name the parent. */
export function addParentOptions(command: Command, parent: Parent | null): Command {
  if (parent === null) return command
  command.option('-p, --project <project>', descriptions.project)
  if (parent === 'app') command.option('-a, --app <app>', descriptions.app)
  if (parent === 'environment') command.option('-e, --environment <name>', descriptions.environment)
  return command
}

/** Returns the options that name the parent in help examples. */
export const parentExample = (parent: Parent | null): string =>
  ({ none: '', project: ' -p shop', app: ' -p shop -a web', environment: ' -p shop -e dev' })[
    parent ?? 'none'
  ]

/** Returns the project that --project or SVC_PROJECT names. */
export async function getProject(
  { terminal, signal }: Context,
  connection: Connection,
  { project }: ParentOptions,
): Promise<ParentRow> {
  const named = project ?? envValue(terminal, 'SVC_PROJECT')
  if (named === undefined)
    throw new Failure('usage', 'The project is missing. Pass --project <slug or id>, or set SVC_PROJECT.')
  return asParent(await getRow(connection, projects, null, { named, signal }))
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
  const named = options[parent]
  if (named === undefined)
    throw new Failure('usage', `The ${parent} is missing. Pass --${parent} <name or id>.`)
  // An id can be looked up without its project.
  if (isId(named)) return { id: named }
  const project = await getProject(context, connection, options)
  const resource = parent === 'app' ? apps : environments
  return asParent(await getRow(connection, resource, project, { named, signal: context.signal }))
}

const asParent = ({ id, slug }: Readonly<Record<string, unknown>>): ParentRow => ({
  id: id as string,
  slug: slug as string,
})
