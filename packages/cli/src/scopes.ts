// Finds the project, tenant or app whose members, invitations or access a command concerns.
import type { Connection } from '@manager/client'
import type { Command } from 'commander'
import type { Context } from './context.ts'
import { Failure } from './failures.ts'
import { type ParentOptions, getParent } from './parents.ts'

export type Scope = {
  kind: 'project' | 'tenant' | 'app'
  id: string
  /** The kind and the name, for messages. */
  title: string
}

/** Adds the options that name the object. */
export const addScopeOptions = (command: Command): Command =>
  command
    .option('-p, --project <project>', 'the project, by slug or id (SVC_PROJECT)')
    .option('-t, --tenant <tenant>', 'a tenant of the project, by slug or id')
    .option('-a, --app <app>', 'an app of the project, by slug or id')

/** Returns the most specific object that the options name. */
export async function getScope(
  context: Context,
  connection: Connection,
  options: ParentOptions,
): Promise<Scope> {
  if (options.tenant !== undefined && options.app !== undefined)
    throw new Failure('usage', 'Both a tenant and an app are given. Pass either --tenant or --app.')
  const kind = options.tenant !== undefined ? 'tenant' : options.app !== undefined ? 'app' : 'project'
  const row = await getParent(context, connection, kind, options)
  const id = row?.id ?? ''
  return { kind, id, title: `${kind} ${row?.slug ?? id}` }
}
