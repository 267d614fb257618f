// A switch that enables and disables a row which connects two objects. It saves immediately; the toast offers undo.
import type { TypedDocument } from '@manager/client'
import { useChange } from '../api/requests.ts'
import { showToast } from '../kit/toast.tsx'
import { useText } from '../texts/language.tsx'
import { useFailureToast } from './use-failure-toast.ts'

type SavedRow = { readonly id: string; readonly revision: number }
type Saved = { readonly row: SavedRow }

type RowSwitchOptions<Input> = {
  /** Null if the two objects were never connected: the switch then creates the row. */
  row: (SavedRow & { readonly enabled: boolean }) | null
  input: Input
  create: TypedDocument<Saved, { readonly input: Input }>
  update: TypedDocument<
    Saved,
    { readonly id: string; readonly enabled: boolean; readonly revision?: number | null }
  >
  remove: TypedDocument<unknown, { readonly id: string; readonly revision?: number | null }>
  /** Returns the text that confirms the change. */
  describe: (isOn: boolean) => string
}

type RowSwitch = { isOn: boolean; isPending: boolean; set: (isOn: boolean) => void }

export function useRowSwitch<Input>({
  row,
  input,
  describe,
  ...documents
}: RowSwitchOptions<Input>): RowSwitch {
  const t = useText()
  const create = useChange(documents.create)
  const update = useChange(documents.update)
  const remove = useChange(documents.remove)
  const onError = useFailureToast()
  const confirm = (isOn: boolean, undo: () => void): void =>
    showToast(describe(isOn), { undo: { label: t('app.undo'), run: undo } })
  const set = (isOn: boolean): void => {
    if (row === null) {
      create.mutate(
        { input },
        {
          onError,
          onSuccess: ({ row: { id, revision } }) =>
            confirm(isOn, () => remove.mutate({ id, revision }, { onError })),
        },
      )
      return
    }
    update.mutate(
      { id: row.id, enabled: isOn, revision: row.revision },
      {
        onError,
        onSuccess: ({ row: { revision } }) =>
          confirm(isOn, () => update.mutate({ id: row.id, enabled: !isOn, revision }, { onError })),
      },
    )
  }
  // While the request runs, the switch shows the requested state.
  const pendingState = create.isPending ? true : update.isPending ? update.variables.enabled : null
  return {
    isOn: pendingState ?? row?.enabled ?? false,
    isPending: create.isPending || update.isPending || remove.isPending,
    set,
  }
}
