// The state of the project that is being imported. To save memory, it contains only the data that links rows.
import type { Group } from './groups.ts'
import { deriveId } from './ids.ts'

export const environmentNames = ['dev', 'qas', 'run'] as const
export type EnvironmentName = (typeof environmentNames)[number]

/** The environment of each tenant type. */
export type TypeEnvironments = Readonly<Record<string, EnvironmentName>>

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
  /**
   * True if the machine user was disabled and a different machine user represents it. Access of the disabled machine
   * user must then stay disabled.
   */
  wasDisabled?: boolean
}

export type Project = {
  oldId: string
  id: string
  tenants: Map<string, TenantTarget>
  clones: Map<string, CloneTarget>
  machineUsers: Map<string, MachineTarget>
}

export const deriveEnvironmentId = (projectId: string, name: EnvironmentName): string =>
  deriveId('environments', projectId, name)
/** Returns the id of the application settings, which replace the settings of all clones of the application. */
export const deriveApplicationSettingsId = (applicationId: string): string =>
  deriveId('settings', applicationId)

/** Type names that identify their environment. */
const knownTypes: TypeEnvironments = {
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

/** Returns the environment for each type. `explicitTypes` takes precedence. Throws if a type is unknown. */
export function resolveTypes(
  types: readonly { type: string; tenants: number }[],
  explicitTypes: TypeEnvironments,
): TypeEnvironments {
  const resolvedTypes: Record<string, EnvironmentName> = {}
  const unknownTypes: string[] = []
  for (const { type, tenants } of types) {
    const normalizedType = type.trim().toLowerCase()
    const environment = Object.hasOwn(explicitTypes, type)
      ? explicitTypes[type]
      : Object.hasOwn(knownTypes, normalizedType)
        ? knownTypes[normalizedType]
        : undefined
    if (environment === undefined)
      unknownTypes.push(`${JSON.stringify(type)} (${tenants} ${tenants === 1 ? 'tenant' : 'tenants'})`)
    else resolvedTypes[type] = environment
  }
  if (unknownTypes.length > 0)
    throw new Error(
      `unknown environment for tenant type ${unknownTypes.join(', ')}; pass --type, for example --type ${JSON.stringify(`${types[0]?.type ?? 'x'}=run`)}`,
    )
  return resolvedTypes
}
