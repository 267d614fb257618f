// The details of a language pack beside the grid.
import { type ReactNode, useState } from 'react'
import { AuditLink } from '../../app/audit-link.tsx'
import { ChangeFailure } from '../../app/change-failure.tsx'
import { DeletionScope } from '../../app/consequences.tsx'
import { ItemActions } from '../../app/item-actions.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { useMay } from '../../app/project.tsx'
import { useSubmit } from '../../app/use-submit.ts'
import { packDeleteDocument } from '../../generated/documents.ts'
import { Button } from '../../kit/button.tsx'
import { DeleteDialog } from '../../kit/dialog.tsx'
import { Note } from '../../kit/note.tsx'
import { SidePanel } from '../../kit/side-panel.tsx'
import { Skeleton, State } from '../../kit/state.tsx'
import { showToast } from '../../kit/toast.tsx'
import { Facts, Id, Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Edits } from './edits.ts'
import type { Contents, Pack } from './pack-types.ts'
import { type Row, countMissing } from './rows.ts'

type PackPanelProps = {
  id: string
  packs: readonly Pack[] | undefined
  rows: readonly Row[]
  contents: Contents
  edits: Edits
  list: ListSearch
}

export function PackPanel({ id, packs, list, ...props }: PackPanelProps): ReactNode {
  const t = useText()
  const pack = packs?.find((one) => one.id === id)
  const edited = [...props.edits.values()].filter(({ packId }) => packId === id).length
  return (
    <SidePanel
      title={pack?.name ?? t('languagePacks.one')}
      width={320}
      subtitle={pack !== undefined && <Id value={pack.id} />}
      actions={
        <ItemActions
          ids={packs?.map((one) => one.id) ?? []}
          openId={id}
          onOpen={(next) => list.setOpen(next)}
        />
      }
      foot={
        pack !== undefined && <PanelFoot pack={pack} edited={edited} onDeleted={() => list.setOpen(null)} />
      }
      onClose={() => list.setOpen(null)}
    >
      {packs === undefined ? (
        <Skeleton rows={6} />
      ) : pack === undefined ? (
        <State icon="lock" title={t('failure.notFound')}>
          {t('failure.notFoundHint')}
        </State>
      ) : (
        <PackFacts pack={pack} edited={edited} {...props} />
      )}
    </SidePanel>
  )
}

type FactsProps = Pick<PackPanelProps, 'rows' | 'contents'> & { pack: Pack; edited: number }

function PackFacts({ pack, rows, contents, edited }: FactsProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const content = contents.get(pack.id)
  return (
    <div className="pack-facts">
      <Facts
        items={[
          {
            label: t('languagePacks.keys'),
            value: content === undefined ? t('languagePacks.notShown') : number(content.values.size),
          },
          ...(content === undefined
            ? []
            : [
                {
                  label: t('languagePacks.missingLabel'),
                  value: number(countMissing(rows, contents, pack.id)),
                },
              ]),
          ...(edited === 0 ? [] : [{ label: t('languagePacks.editedLabel'), value: number(edited) }]),
          {
            label: t('languagePacks.updated'),
            value: (
              <>
                <Time at={pack.updatedAt} />{' '}
                <AuditLink entity="languagePack" id={pack.id} label={t('app.whoChanged')} />
              </>
            ),
          },
        ]}
      />
      <Note tone="info">{t('languagePacks.fallback')}</Note>
    </div>
  )
}

type FootProps = { pack: Pack; edited: number; onDeleted: () => void }

function PanelFoot({ pack, edited, onDeleted }: FootProps): ReactNode {
  const t = useText()
  const canDelete = useMay('languagePacks.delete')
  const [isDeleting, setDeleting] = useState(false)
  if (!canDelete) return null
  return (
    <>
      <Button
        variant="quietDanger"
        icon="delete"
        action="languagePacks.delete"
        disabledReason={edited === 0 ? null : t('languagePacks.saveFirst')}
        onPress={() => setDeleting(true)}
      >
        {t('kit.delete')}
      </Button>
      {isDeleting && <DeletePack pack={pack} onClose={() => setDeleting(false)} onDeleted={onDeleted} />}
    </>
  )
}

function DeletePack({
  pack,
  onClose,
  onDeleted,
}: Omit<FootProps, 'edited'> & { onClose: () => void }): ReactNode {
  const t = useText()
  const { send, isPending, failure } = useSubmit(packDeleteDocument)
  // The dialog keeps the revision that the person saw first, even if the pack is read again.
  const [base] = useState(pack)
  return (
    <DeleteDialog
      title={t('languagePacks.deleteTitle', base.name)}
      isOpen
      confirmation={base.name}
      isPending={isPending}
      failure={<ChangeFailure failure={failure} onReload={onClose} />}
      onClose={onClose}
      onDelete={() =>
        send({ id: base.id, revision: base.revision }, () => {
          showToast(t('app.deleted', base.name))
          onDeleted()
        })
      }
    >
      <DeletionScope />
      <p>{t('languagePacks.deleteHint')}</p>
    </DeleteDialog>
  )
}
