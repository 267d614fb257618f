// User fields by which callers can filter and order the members of a project, tenant or application. A caller who may
// list the members may also read these fields.
import type { ListFields } from '../../platform/lists/filters.ts'

const via = { table: 'users', foreignKey: 'userId' }

export const memberUserFields: ListFields = {
  userName: { column: 'externalName', match: 'text', via },
  username: { column: 'externalUsername', match: 'text', via },
  userEmail: { column: 'externalEmail', match: 'text', via },
}
