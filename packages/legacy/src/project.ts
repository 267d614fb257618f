// The state of the project that is being imported: enough to link rows, and nothing that grows with their content.
import type { Group } from './groups.ts'
import { derivedId } from './ids.ts'

export const environmentNames = ['dev', 'qas', 'run'] as const
export type EnvironmentName = (typeof environmentNames)[number]

/** The environment of each tenant type. */
export type Types = Readonly<Record<string, EnvironmentName>>

export type TenantTarget = { id: string; slug: string; environment: EnvironmentName }
export type CloneTarget = {
  applicationId: string
  /** Null for a template, which belongs to no tenant. */
  tenant: TenantTarget | null
  group: Group
}
export type MachineTarget = {
  id: string
  environmentId: string
  /** The machine user was disabled, and another one represents it. Its own access must stay disabled. */
  wasDisabled?: boolean
}

export type Project = {
  oldId: string
  id: string
  tenants: Map<string, TenantTarget>
  clones: Map<string, CloneTarget>
  machineUsers: Map<string, MachineTarget>
}

export const environmentId = (projectId: string, name: EnvironmentName): string =>
  derivedId('environments', projectId, name)
/** Returns the id of the settings of an application, which replace the settings of all its clones. */
export const applicationSettingsId = (applicationId: string): string => derivedId('settings', applicationId)

/** Type names that identify their environment. */
const knownTypes: Types = {
  dev: 'dev',
  development: 'dev',
  qas: 'qas',
  qa: 'qas',
  test: 'qas',
  staging: 'qas',
  run: 'run',
  prod: 'run',
  production: 'run',
  live: 'run',
}

/** Returns the environment of each type. `given` takes precedence. Throws if a type is unknown. */
export function resolveTypes(types: readonly { type: string; tenants: number }[], given: Types): Types {
  const resolved: Record<string, EnvironmentName> = {}
  const unknown: string[] = []
  for (const { type, tenants } of types) {
    const known = type.trim().toLowerCase()
    const environment = Object.hasOwn(given, type)
      ? given[type]
      : Object.hasOwn(knownTypes, known)
        ? knownTypes[known]
        : undefined
    if (environment === undefined)
      unknown.push(`${JSON.stringify(type)} (${tenants} ${tenants === 1 ? 'tenant' : 'tenants'})`)
    else resolved[type] = environment
  }
  if (unknown.length > 0)
    throw new Error(
      `unknown environment for tenant type ${unknown.join(', ')}; pass --type, for example --type ${JSON.stringify(`${types[0]?.type ?? 'x'}=run`)}`,
    )
  return resolved
}
