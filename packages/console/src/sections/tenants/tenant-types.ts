// Types of API rows, as the pages about tenants read them.
import type {
  TenantDetailResult,
  TenantMemberPageResult,
  TenantRoleListResult,
} from '../../generated/documents.ts'

export type Tenant = TenantDetailResult['tenantById']
export type Member = TenantMemberPageResult['user2tenantsConnection']['nodes'][number]
export type Role = TenantRoleListResult['tenantRoleDefinitionsConnection']['nodes'][number]
