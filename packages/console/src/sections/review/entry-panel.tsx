// One access beside the list: its facts, the decision about it with a comment, and the page that can change it.
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useRead } from '../../api/requests.ts'
import { isUuid } from '../../app/ids.ts'
import { ItemActions } from '../../app/item-actions.tsx'
import type { ListSearch } from '../../app/list-search.ts'
import { namePerson } from '../../app/person-name.ts'
import { systemUserDocument } from '../../generated/documents.ts'
import { Badge } from '../../kit/badge.tsx'
import { TextField } from '../../kit/form.tsx'
import { Section } from '../../kit/section.tsx'
import { SidePanel } from '../../kit/side-panel.tsx'
import { State } from '../../kit/state.tsx'
import { Facts, Id, Time } from '../../kit/values.tsx'
import { useText } from '../../texts/language.tsx'
import type { Draft } from './attestation.ts'
import { DecisionButtons, DecisionStatus } from './decision-buttons.tsx'
import { adviceTones, describeAccess, describeScope } from './entry-columns.tsx'
import type { Entry } from './report.ts'
import { type Progress, findDecision } from './select-entries.ts'
import { type ProjectNames, findEntryTarget } from './entry-target.ts'

export const maxComment = 1_000

type EntryPanelProps = {
  entry: Entry | undefined
  ids: readonly string[]
  list: ListSearch
  progress: Progress
  projects: ProjectNames
  onDecide: (ids: readonly string[], draft: Draft | null) => void
}

export function EntryPanel({ entry, ids, list, ...props }: EntryPanelProps): ReactNode {
  const t = useText()
  return (
    <SidePanel
      label={entry === undefined ? t('review.entry') : describeAccess(entry, t)}
      title={<span className="truncate">{entry?.name ?? t('review.entry')}</span>}
      subtitle={
        entry !== undefined && (
          <span className="truncate">{`${entry.role} · ${describeScope(entry, t)}`}</span>
        )
      }
      actions={<ItemActions ids={ids} openId={list.open ?? ''} onOpen={list.setOpen} />}
      onClose={() => list.setOpen(null)}
    >
      {entry === undefined ? (
        <State icon="search" title={t('review.noEntry')}>
          {t('review.noEntryHint')}
        </State>
      ) : (
        <>
          <DecisionSection key={entry.entry_id} entry={entry} {...props} />
          <AccessSection entry={entry} projects={props.projects} />
        </>
      )}
    </SidePanel>
  )
}

type SectionProps = Pick<EntryPanelProps, 'progress' | 'onDecide' | 'projects'> & { entry: Entry }

function DecisionSection({ entry, progress, onDecide, projects }: SectionProps): ReactNode {
  const t = useText()
  const draft = progress.drafts.get(entry.entry_id)
  const decision = findDecision(entry, progress)
  const target = findEntryTarget(entry, projects)
  return (
    <Section title={t('review.decision')}>
      <div className="review-form">
        <DecisionButtons
          label={t('review.decisionAbout', describeAccess(entry, t))}
          value={decision}
          onChange={(next) =>
            onDecide(
              [entry.entry_id],
              next === null ? null : { decision: next, comment: draft?.comment ?? '' },
            )
          }
        />
        {draft !== undefined && (
          <TextField
            label={t('review.comment')}
            lines={3}
            maxLength={maxComment}
            value={draft.comment}
            onChange={(comment) => onDecide([entry.entry_id], { ...draft, comment })}
          />
        )}
        <p className="secondary">
          {decision === null ? t('review.decideHint') : t(`review.decisionHint.${decision}`)}
        </p>
        {target !== null && (
          <Link
            to={target.to as '/'}
            search={target.search as never}
            className="button"
            data-variant="default"
          >
            {t('review.openAccess')}
          </Link>
        )}
      </div>
    </Section>
  )
}

function AccessSection({ entry, projects }: { entry: Entry; projects: ProjectNames }): ReactNode {
  const t = useText()
  const { last_attestation: last, project_id: project } = entry
  return (
    <Section title={t('review.access')}>
      <Facts
        items={[
          {
            label: t('review.advice'),
            value: (
              <Badge tone={adviceTones[entry.recommendation]}>
                {t(`review.advice.${entry.recommendation}`)}
              </Badge>
            ),
          },
          {
            label: t('review.flags'),
            value:
              entry.flags.length === 0
                ? t('review.noFlags')
                : entry.flags.map((flag) => <div key={flag}>{t(`review.flagHint.${flag}`)}</div>),
          },
          { label: t('review.kind'), value: t(`review.principal.${entry.principal_type}`) },
          ...(entry.email === '' ? [] : [{ label: t('review.email'), value: entry.email }]),
          {
            label: t('review.accessTo'),
            value: `${t(`review.scope.${entry.scope_type}`)} ${entry.scope_name}`,
          },
          ...(project === null || entry.scope_type === 'project'
            ? []
            : [{ label: t('review.project'), value: projects.get(project)?.name ?? <Id value={project} /> }]),
          { label: t('review.role'), value: entry.role },
          { label: t('review.enabled'), value: t(entry.enabled ? 'review.yes' : 'review.no') },
          { label: t('review.granted'), value: <Time at={entry.granted_at} /> },
          { label: t('review.grantedBy'), value: <Granter id={entry.granted_by} /> },
          { label: t('review.lastActivity'), value: <Time at={entry.last_activity_at} /> },
          ...(entry.principal_type === 'personal_access_token' || entry.principal_type === 'scim_token'
            ? [{ label: t('review.expires'), value: <Time at={entry.expires_at} /> }]
            : []),
          {
            label: t('review.lastAttested'),
            value:
              last === null ? (
                t('review.neverAttested')
              ) : (
                <>
                  <DecisionStatus decision={last.decision} /> <Time at={last.attested_at} />{' '}
                  <Granter id={last.attested_by} />
                </>
              ),
          },
          { label: t('review.entryId'), value: <Id value={entry.entry_id} /> },
        ]}
      />
    </Section>
  )
}

/** A person by name; a machine user or a deleted person by id, and a command by its name. */
function Granter({ id }: { id: string | null }): ReactNode {
  const t = useText()
  const { data } = useRead(systemUserDocument, { id: id ?? '' }, { isEnabled: id !== null && isUuid(id) })
  if (id === null) return <span className="muted">{t('review.unrecorded')}</span>
  if (data !== undefined) return namePerson(data.user)
  return isUuid(id) ? <Id value={id} /> : id
}
