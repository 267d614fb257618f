// An address can name an object of another project. The page then reports that the object does not exist, because
// the title, the environments and the actions of the page belong to the project in the address.
import { GraphqlError } from '@manager/client'
import { useRead } from '../api/requests.ts'
import {
  type PickedApplicationResult,
  type PickedTenantResult,
  pickedApplicationDocument,
  pickedTenantDocument,
} from '../generated/documents.ts'
import { useProject } from './project.tsx'

const elsewhere = new GraphqlError([
  { message: 'the object belongs to another project', extensions: { code: 'not_found' } },
])

type Found<Item> = { readonly item: Item | undefined; readonly error: Error | null }

/** Returns the object if it belongs to the project of the page, and otherwise an error. */
export function useInProject<Item>(
  item: Item | undefined,
  projectId: string | undefined,
  error: Error | null,
): Found<Item> {
  const project = useProject()
  return item === undefined || projectId === project.id
    ? { item, error }
    : { item: undefined, error: elsewhere }
}

/** Reads the tenant that the address names; nothing if the id is null. */
export function usePickedTenant(id: string | null): Found<PickedTenantResult['tenantById']> {
  const { data, error } = useRead(pickedTenantDocument, { id: id ?? '' }, { isEnabled: id !== null })
  return useInProject(data?.tenantById, data?.tenantById.project.id, error)
}

/** Reads the application that the address names; nothing if the id is null. */
export function usePickedApplication(id: string | null): Found<PickedApplicationResult['applicationById']> {
  const { data, error } = useRead(pickedApplicationDocument, { id: id ?? '' }, { isEnabled: id !== null })
  return useInProject(data?.applicationById, data?.applicationById.project.id, error)
}
