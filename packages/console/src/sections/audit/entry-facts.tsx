// Shows who made a change, when and from where, and whether the chain proves it.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useCan, useProject } from '../../app/project.tsx'
import { Status } from '../../kit/badge.tsx'
import { Section } from '../../kit/section.tsx'
import { type Fact, Facts, Id, Time } from '../../kit/values.tsx'
import { VisibleText } from '../../kit/visible-text.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import { useChain } from './chain-note.tsx'
import { type Entry, formatValue, readMetadata } from './entry.ts'
import type { Names } from './use-names.ts'
import type { VerifiedPart } from './use-verification.ts'
import { findAuthor } from './who.tsx'

/** Metadata that has a separate row or is part of the sentence of the entry. */
const shownMetadata: ReadonlySet<string> = new Set(['traceId', 'tenantId', 'applicationId'])

type FactsProps = {
  entry: Entry
  names: Names
  /** The result of the verification on this page, which is newer than the known state of the chain. */
  verified: VerifiedPart | null
}

export function EntryFacts({ entry, names, verified }: FactsProps): ReactNode {
  const t = useText()
  const { createdAt, hash, entityID } = entry
  const metadata = readMetadata(entry)
  const trace = formatValue(metadata['traceId'])
  const others = Object.entries(metadata).filter(([key, value]) => !shownMetadata.has(key) && value !== null)
  const items: readonly (Fact | null)[] = [
    { label: t('audit.who'), value: <AuthorFact entry={entry} names={names} /> },
    {
      label: t('audit.when'),
      value: (
        <>
          <span className="numbers">{createdAt.replace('T', ' ').replace('Z', ' UTC')}</span>
          <div className="muted">
            <Time at={createdAt} />
          </div>
        </>
      ),
    },
    ...others.map(([key, value]): Fact => ({
      label: key === 'layer' ? t('audit.layer') : key,
      value: <VisibleText text={formatValue(value) ?? ''} />,
    })),
    { label: t('audit.from'), value: <Origin entry={entry} /> },
    trace === null
      ? null
      : {
          label: t('audit.trace'),
          value: (
            <>
              <Id value={trace} /> <span className="muted">{t('audit.unproven')}</span>
            </>
          ),
        },
    { label: t('audit.objectId'), value: <Id value={entityID} /> },
    { label: t('audit.hash'), value: <Id value={hash} /> },
    { label: t('audit.chain'), value: <ChainFact seq={entry.seq} verified={verified} /> },
  ]
  return (
    <Section title={t('audit.evidence')}>
      <Facts items={items.filter((item) => item !== null)} />
    </Section>
  )
}

/** The address and the client of the request. Jobs and commands have neither. */
function Origin({ entry: { ipAddress, userAgent } }: { entry: Entry }): ReactNode {
  const t = useText()
  if (ipAddress === '' && userAgent === '') return <span className="muted">{t('audit.noOrigin')}</span>
  return (
    <>
      <span>{ipAddress}</span>
      <span className="audit-agent" title={userAgent}>
        <VisibleText text={userAgent} />
      </span>
    </>
  )
}

/** The author, with a link to the page of the person or machine user. */
function AuthorFact({ entry, names }: { entry: Entry; names: Names }): ReactNode {
  const t = useText()
  const { slug } = useProject()
  const canOpen = {
    user: useCan('PROJECT_MEMBER_READ'),
    machineUser: useCan('MACHINE_USER_READ'),
    system: false,
  }
  const { kind, name, id } = findAuthor(entry, names, t)
  return (
    <>
      {id !== null && canOpen[kind] ? (
        <Link
          to={kind === 'user' ? '/p/$project/members' : '/p/$project/machine-users'}
          params={{ project: slug }}
          search={{ open: id } as never}
        >
          <bdi>{name}</bdi>
        </Link>
      ) : (
        <bdi>{name}</bdi>
      )}{' '}
      <span className="muted">{t(`audit.author.${kind}`)}</span>
    </>
  )
}

function ChainFact({ seq, verified }: { seq: number; verified: VerifiedPart | null }): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const chain = useChain().data?.auditChain
  if (chain === undefined) return '…'
  const { status, firstBrokenSeq } = verified ?? chain
  const verifiedSeq = verified?.toSeq ?? chain.verifiedSeq
  if (status === 'broken' && (firstBrokenSeq === null || seq >= firstBrokenSeq))
    return (
      <Status kind="danger">
        {firstBrokenSeq === null || seq === firstBrokenSeq
          ? t('audit.chainBroken')
          : t('audit.afterBroken', number(firstBrokenSeq))}
      </Status>
    )
  return seq <= verifiedSeq ? (
    <Status kind="ok">{t('audit.chainVerified')}</Status>
  ) : (
    <Status kind="pending">{t('audit.chainPending')}</Status>
  )
}
