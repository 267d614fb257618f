import { listProvisionedGroupsDocument } from '@manager/client/documents'
import type { Resource } from '../resource.ts'

export const groups: Resource = {
  name: 'groups',
  singular: 'group',
  aliases: ['group'],
  description: 'Groups of identity providers, and the roles that they give',
  parent: null,
  keys: ['displayName'],
  keyNames: ['name'],
  columns: ['displayName', 'memberCount', 'externalId', 'updatedAt'],
  fields: [],
  list: { document: listProvisionedGroupsDocument },
  example: 'Operators',
}
