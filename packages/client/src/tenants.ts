import type { Connection } from './connection.ts'
import type { ListTenantsOfApplicationAnswer, TenantName } from './generated/rest.ts'
import { encodePath } from './names.ts'
import { checkNumber } from './options.ts'
import { type CallOptions, sendForJson } from './request.ts'

export type Tenant = TenantName
export type ForEachTenantOptions = CallOptions & {
  /** The number of tenants that are processed concurrently. The default is 1. */
  concurrency?: number
}

/** Returns all tenants for which the application is enabled. */
export async function listTenants(
  connection: Connection,
  applicationId: string,
  { signal }: CallOptions = {},
): Promise<readonly Tenant[]> {
  const path = `/api/machine/application${encodePath([applicationId])}/tenants`
  const { tenants } = await sendForJson<ListTenantsOfApplicationAnswer>(connection, {
    method: 'GET',
    path,
    signal,
  })
  return tenants
}

/**
 * Calls `work` for every tenant of the application. A failure does not stop the work for other tenants. The
 * AggregateError at the end contains one error per failed tenant, with the thrown value as its cause.
 */
export async function forEachTenant(
  connection: Connection,
  applicationId: string,
  work: (tenant: Tenant) => unknown,
  { concurrency = 1, signal }: ForEachTenantOptions = {},
): Promise<void> {
  checkNumber('concurrency', concurrency)
  const tenantList = await listTenants(connection, applicationId, { signal })
  const tenants = tenantList.values()
  const errors: Error[] = []
  const worker = async (): Promise<void> => {
    for (const tenant of tenants) {
      signal?.throwIfAborted()
      try {
        await work(tenant)
      } catch (cause) {
        errors.push(new Error(`tenant ${tenant.name} (${tenant.id}): ${String(cause)}`, { cause }))
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, tenantList.length) }, worker))
  if (errors.length > 0)
    throw new AggregateError(
      errors,
      `work failed for ${errors.length} ${errors.length === 1 ? 'tenant' : 'tenants'}`,
    )
}
