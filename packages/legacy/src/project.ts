// What an import knows of the project it is at: enough to point rows at each other, and nothing that grows with their content.
import type { Group } from './groups.ts'
import { derivedId } from './ids.ts'

export const environmentNames = ['dev', 'qas', 'run'] as const
export type EnvironmentName = (typeof environmentNames)[number]

/** The environment of each type of tenants. */
export type Types = Readonly<Record<string, EnvironmentName>>

export type TenantPlace = { id: string; slug: string; environment: EnvironmentName }
export type ClonePlace = {
  applicationId: string
  /** Null for a template, which belongs to no tenant. */
  tenant: TenantPlace | null
  group: Group
}
export type MachinePlace = {
  id: string
  environmentId: string
  /** Another one stands for it, and it was disabled: what it could call, nobody could. */
  wasDisabled?: boolean
}

export type Project = {
  oldId: string
  id: string
  tenants: Map<string, TenantPlace>
  clones: Map<string, ClonePlace>
  machineUsers: Map<string, MachinePlace>
}

export const environmentId = (projectId: string, name: EnvironmentName): string =>
  derivedId('environments', projectId, name)
/** The settings of an application, which stand for those of all its clones. */
export const applicationSettingsId = (applicationId: string): string => derivedId('settings', applicationId)

/** Names that say by themselves which environment they mean. */
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

/** The environment of each of these types; throws when nobody has said it. `given` wins. */
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
    if (environment === undefined) unknown.push(`${JSON.stringify(type)} (${tenants} tenants)`)
    else resolved[type] = environment
  }
  if (unknown.length > 0)
    throw new Error(
      `it is not known which environment the tenant type ${unknown.join(', ')} is; say it with --type, for example --type ${JSON.stringify(`${types[0]?.type ?? 'x'}=run`)}`,
    )
  return resolved
}
