// The state of the audit chain above its entries: what the Manager has verified, and the verification of this page.
import type { ReactNode } from 'react'
import { describeFailure } from '../../api/failures.ts'
import { useRead } from '../../api/requests.ts'
import { useProject } from '../../app/project.tsx'
import { type AuditChainResult, auditChainDocument } from '../../generated/documents.ts'
import { Button, IconButton } from '../../kit/button.tsx'
import { Note, type NoteTone } from '../../kit/note.tsx'
import { FailureNote } from '../../kit/state.tsx'
import { Id, Time } from '../../kit/values.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Verification, VerifiedPart } from './use-verification.ts'

type Chain = AuditChainResult['auditChain']
const refetchMs = 60_000

/** Reads the state of the chain of the project. */
export function useChain() {
  const { id } = useProject()
  return useRead(auditChainDocument, { project: id }, { refetchMs })
}

type ChainNoteProps = {
  verification: Verification
  onVerify: () => void
  onClose: () => void
  onOpen: (seq: number) => void
}

export function ChainNote({ verification, onVerify, onClose, onOpen }: ChainNoteProps): ReactNode {
  const { data, error, refetch } = useChain()
  return (
    <div className="audit-chain" role="status">
      {verification.state === 'running' && (
        <RunningNote part={verification.part} entries={data?.auditChain.entries ?? null} onStop={onClose} />
      )}
      {verification.state === 'done' && (
        <ResultNote part={verification.part} onClose={onClose} onOpen={onOpen} />
      )}
      {verification.state === 'failed' && <FailureNote failure={verification.failure} onRetry={onVerify} />}
      {verification.state === 'idle' && data !== undefined && (
        <StatusNote chain={data.auditChain} onOpen={onOpen} />
      )}
      {verification.state === 'idle' && data === undefined && error === null && (
        <div className="audit-chain-loading" />
      )}
      {verification.state === 'idle' && data === undefined && error !== null && (
        <FailureNote failure={describeFailure(error)} onRetry={() => void refetch()} />
      )}
    </div>
  )
}

function ShowEntry({ seq, onOpen }: { seq: number | null; onOpen: (seq: number) => void }): ReactNode {
  const t = useText()
  return seq === null ? null : (
    <Button size="small" onPress={() => onOpen(seq)}>
      {t('audit.showEntry')}
    </Button>
  )
}

const command = 'manager audit verify'

/** Shows the defect, and the next step if the reason does not contain it. */
function BrokenText({ seq, reason }: { seq: number | null; reason: string | null }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  return (
    <>
      <strong>{seq === null ? t('audit.broken') : t('audit.brokenAt', number(seq))}</strong>
      {reason === null ? '.' : `: ${reason}.`}{' '}
      {reason?.includes(command) !== true && (
        <span className="secondary">
          {t('audit.brokenHint')} <code>{command}</code>.
        </span>
      )}
    </>
  )
}

type StatusProps = { chain: Chain; onOpen: (seq: number) => void }

/** An empty chain needs no note: the list says that there are no entries. */
function StatusNote({ chain, onOpen }: StatusProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { status, entries, verifiedSeq, firstBrokenSeq, reason, checkpointAt } = chain
  if (status === 'empty') return null
  if (status === 'broken')
    return (
      <Note tone="danger" actions={<ShowEntry seq={firstBrokenSeq} onOpen={onOpen} />}>
        <BrokenText seq={firstBrokenSeq} reason={reason} />
      </Note>
    )
  if (status !== 'ok')
    return (
      <Note tone="info">
        <strong>{t('audit.unverified')}</strong> {t('audit.unverifiedHint')}
      </Note>
    )
  const newer = entries - verifiedSeq
  return (
    <Note tone="ok">
      <strong>{t('audit.intact', number(verifiedSeq))}</strong>{' '}
      <span className="secondary">
        {checkpointAt !== null && (
          <>
            {t('audit.sealed')} <Time at={checkpointAt} />
          </>
        )}
        {checkpointAt !== null && newer > 0 && ' · '}
        {newer > 0 && t('audit.newer', newer)}
      </span>
    </Note>
  )
}

type RunningProps = { part: VerifiedPart | null; entries: number | null; onStop: () => void }

function RunningNote({ part, entries, onStop }: RunningProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const total = part?.entries ?? entries
  return (
    <Note
      tone="info"
      actions={
        <Button size="small" onPress={onStop}>
          {t('audit.stop')}
        </Button>
      }
    >
      <strong>{t('audit.verifying')}</strong>{' '}
      {total !== null && (
        <span className="numbers">{t('app.progress', number(part?.toSeq ?? 0), number(total))}</span>
      )}
    </Note>
  )
}

const findTone = ({ status, isComplete, reason }: VerifiedPart): NoteTone => {
  if (status === 'broken') return 'danger'
  if (status === 'empty') return 'info'
  return isComplete && reason === null ? 'ok' : 'warn'
}

type ResultProps = { part: VerifiedPart; onClose: () => void; onOpen: (seq: number) => void }

function ResultNote({ part, onClose, onOpen }: ResultProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { status, entries, toSeq, firstBrokenSeq, reason, headHash, isComplete } = part
  const getTitle = (): string => {
    if (status === 'empty') return t('audit.verifiedEmpty')
    return isComplete ? t('audit.verified', entries) : t('audit.verifiedPart', number(toSeq), number(entries))
  }
  return (
    <Note
      tone={findTone(part)}
      actions={
        <>
          {status === 'broken' && <ShowEntry seq={firstBrokenSeq} onOpen={onOpen} />}
          <IconButton icon="close" size="small" label={t('kit.close')} onPress={onClose} />
        </>
      }
    >
      {status === 'broken' ? (
        <BrokenText seq={firstBrokenSeq} reason={reason} />
      ) : (
        <>
          <strong>{getTitle()}</strong> {reason}{' '}
        </>
      )}
      {status === 'ok' && headHash !== null && (
        <span className="secondary">
          {t('audit.headHash')} <Id value={headHash} />
        </span>
      )}
    </Note>
  )
}
