import type { Resource } from '../resource.ts'
import { apps } from './apps.ts'
import { deployments } from './deployments.ts'
import { endpoints } from './endpoints.ts'
import { environments } from './environments.ts'
import { languagePacks } from './language-packs.ts'
import { machineUsers } from './machine-users.ts'
import { pilets } from './pilets.ts'
import { projects } from './projects.ts'
import { roles } from './roles.ts'
import { groups } from './groups.ts'
import { scimTokens } from './scim-tokens.ts'
import { tenants } from './tenants.ts'
import { tokens } from './tokens.ts'
import { triggers } from './triggers.ts'
import { users } from './users.ts'

/** Every resource that has commands, in the order of the help. */
export const resources: readonly Resource[] = [
  projects,
  tenants,
  apps,
  environments,
  machineUsers,
  endpoints,
  triggers,
  pilets,
  languagePacks,
  deployments,
  users,
  roles,
  groups,
  scimTokens,
  tokens,
]
