// Which SCIM attribute identifies a person.
import { defineSetting, oneOf } from '../../config/readers.ts'

export const scimSettings = {
  usersScimSubjectAttribute: defineSetting(oneOf('externalId', 'userName'), {
    key: 'users.scim.subject_attribute',
    env: 'SVC_USERS_SCIM_SUBJECT_ATTRIBUTE',
    default: 'externalId',
    doc: 'Attribute of a SCIM user with the UUID that the proxy sends as the subject of the person: `externalId` or `userName`. It becomes the id of the user. A request with another value in this attribute is rejected.',
  }),
} as const
