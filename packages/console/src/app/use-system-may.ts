// Actions that do not depend on a project.
import { useRead } from '../api/requests.ts'
import { shellMeDocument } from '../generated/documents.ts'
import { type ActionName, may } from './actions.ts'

/** Returns whether the caller may use an action on the installation; false until the permissions are known. */
export const useSystemMay = (action: ActionName): boolean =>
  may(useRead(shellMeDocument, {}).data?.me, action)
