// One entry beside the list: the sentence with its author, the changes and the evidence.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { ItemActions } from '../../app/item-actions.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { useProject } from '../../app/project.tsx'
import { auditOpenEntryDocument } from '../../generated/documents.ts'
import { Badge } from '../../kit/badge.tsx'
import { IconButton } from '../../kit/button.tsx'
import { SidePanel } from '../../kit/side-panel.tsx'
import { FailureState, Skeleton, State } from '../../kit/state.tsx'
import { showToast } from '../../kit/toast.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { type Entry, describeEntry, isAction, listIds, readMetadata, toChangeObject } from './entry.ts'
import { EntryChanges, listChangedIds } from './entry-changes.tsx'
import { EntryFacts } from './entry-facts.tsx'
import { findEntryTarget } from './entry-target.ts'
import { Sentence } from './sentence.tsx'
import type { VerifiedPart } from './use-verification.ts'
import { type Names, useNames } from './use-names.ts'
import { findAuthor, listAuthorIds } from './who.tsx'

const seqPattern = /^\d{1,9}$/

type PanelProps = {
  seq: string
  /** The numbers of the listed entries, in their order. */
  seqs: readonly string[]
  list: ListSearch
  /** The result of the verification on this page. */
  verified: VerifiedPart | null
}

export function EntryPanel({ seq, seqs, list, verified }: PanelProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { id } = useProject()
  const isNumber = seqPattern.test(seq)
  const { data, error, refetch } = useRead(
    auditOpenEntryDocument,
    { project: id, seq },
    { isEnabled: isNumber },
  )
  const entry = data?.auditLogs[0]
  const names = useNames(entry === undefined ? [] : listNeededIds(entry))
  const isJson = list.search['tab'] === 'json'
  const tab = isJson ? { tab: 'json' } : {}
  const title = isNumber ? t('audit.entryTitle', number(Number(seq))) : t('audit.entry')
  return (
    <SidePanel
      width={400}
      label={title}
      title={
        <span className="audit-title">
          <span className="truncate">{title}</span>
          {entry !== undefined && (
            <Badge tone="outline">
              {isAction(entry.action) ? t(`audit.action.${entry.action}`) : entry.action}
            </Badge>
          )}
        </span>
      }
      subtitle={entry !== undefined && <EntrySentence entry={entry} names={names} />}
      actions={<ItemActions ids={seqs} openId={seq} onOpen={(next) => list.setOpen(next, tab)} />}
      foot={entry !== undefined && <Foot entry={entry} />}
      onClose={() => list.setOpen(null)}
    >
      {entry !== undefined ? (
        <>
          <EntryChanges
            key={entry.id}
            entry={entry}
            names={names}
            isJson={isJson}
            onJson={(next) => list.setOpen(seq, next ? { tab: 'json' } : {})}
          />
          <EntryFacts entry={entry} names={names} verified={verified} />
        </>
      ) : error !== null ? (
        <FailureState failure={describeFailure(error)} onRetry={() => void refetch()} />
      ) : data === undefined && isNumber ? (
        <Skeleton rows={10} />
      ) : (
        <State icon="search" title={t('audit.noEntry')}>
          {t('audit.noEntryHint')}
        </State>
      )}
    </SidePanel>
  )
}

const listNeededIds = (entry: Entry): readonly string[] => [
  ...listIds(describeEntry(entry)),
  ...listAuthorIds(entry),
  ...listChangedIds(entry),
  entry.entityID,
]

/** Says what was changed by whom. The name of the object leads to its page, if the console has one. */
function EntrySentence({ entry, names }: { entry: Entry; names: Names }): ReactNode {
  const t = useText()
  return (
    <span className="audit-sentence">
      <Sentence parts={describeEntry(entry)} names={names} target={findEntryTarget(entry, names)} />{' '}
      {t('audit.by')} <bdi>{findAuthor(entry, names, t).name}</bdi>
    </span>
  )
}

function Foot({ entry }: { entry: Entry }): ReactNode {
  const t = useText()
  const { slug } = useProject()
  const { entityType, entityID, seq } = entry
  const copy = async (): Promise<void> => {
    const readable = { ...entry, metadata: readMetadata(entry), changes: toChangeObject(entry) }
    await navigator.clipboard.writeText(JSON.stringify(readable, null, 2))
    showToast(t('kit.copied'))
  }
  return (
    <>
      <Link
        className="button"
        to="/p/$project/audit"
        params={{ project: slug }}
        search={{ entity: entityType, id: entityID, open: String(seq) } as never}
      >
        {t('audit.allOfObject')}
      </Link>
      <span className="side-panel-foot-end">
        <IconButton icon="copy" label={t('audit.copyJson')} onPress={() => void copy()} />
      </span>
    </>
  )
}
