// The marked changes with their consequences, and the button that applies them.
import { Fragment, type ReactNode, type RefObject, useMemo } from 'react'
import { useProject } from '../../app/project.tsx'
import { useTenantCounts } from '../../app/tenant-counts.ts'
import { EnvironmentBadge } from '../../kit/badge.tsx'
import { Button, IconButton } from '../../kit/button.tsx'
import { Icon } from '../../kit/icon.tsx'
import { Note } from '../../kit/note.tsx'
import { returnFocus } from '../../kit/return-focus.ts'
import { Section, SectionRow } from '../../kit/section.tsx'
import { SidePanel } from '../../kit/side-panel.tsx'
import { useFormat } from '../../texts/format.ts'
import { useText } from '../../texts/language.tsx'
import type { Mark, Marks } from './access-marks.ts'
import type { Apply } from './use-apply.ts'

type AccessPreviewProps = {
  marks: Marks
  apply: Apply
  grid: RefObject<HTMLElement | null>
  onClose: () => void
}

export function AccessPreview({ marks, apply, grid, onClose }: AccessPreviewProps): ReactNode {
  const t = useText()
  const { number } = useFormat()
  const { progress, isStopped } = apply
  const failed = marks.list.filter(({ problem }) => problem !== null).length
  return (
    <SidePanel
      title={t('access.preview')}
      subtitle={t('access.previewNote')}
      width={320}
      follows={grid}
      onClose={onClose}
      foot={
        <>
          <Button onPress={marks.clear} disabledReason={progress === null ? null : t('access.applying')}>
            {t('app.discard')}
          </Button>
          <span className="side-panel-foot-end">
            <Button variant="primary" isPending={progress !== null} onPress={() => void apply.run()}>
              {progress === null
                ? t('access.apply', marks.list.length)
                : t('app.progress', number(progress.current), number(progress.total))}
            </Button>
          </span>
        </>
      }
    >
      {failed > 0 && (
        <Note tone="danger">{isStopped ? t('access.stopped', failed) : t('access.failed', failed)}</Note>
      )}
      {groupMarks(marks.list).map((group) => (
        <MarkGroup key={group.key} group={group} onRemove={marks.remove} canRemove={progress === null} />
      ))}
      <Section title={t('access.effects')}>
        <Effects marks={marks.list} />
      </Section>
      <Note tone="warn">{t('access.oneByOne')}</Note>
    </SidePanel>
  )
}

type Group = { key: string; isOn: boolean; application: string; marks: readonly Mark[] }

/** Groups marks by application and direction, ordered by the names of the applications. */
function groupMarks(marks: readonly Mark[]): readonly Group[] {
  const groups = Map.groupBy(marks, ({ application, isOn }) => `${application.id}/${isOn}`)
  return [...groups]
    .flatMap(([key, list]) =>
      list[0] === undefined
        ? []
        : [{ key, isOn: list[0].isOn, application: list[0].application.name, marks: list }],
    )
    .toSorted((a, b) => a.application.localeCompare(b.application))
}

type MarkGroupProps = { group: Group; canRemove: boolean; onRemove: (key: string) => void }

function MarkGroup({ group, canRemove, onRemove }: MarkGroupProps): ReactNode {
  const t = useText()
  const { isOn, application, marks } = group
  return (
    <Section
      title={isOn ? t('access.enable', application) : t('access.disable', application)}
      note={t('access.tenants', marks.length)}
    >
      {marks.map(({ key, tenant, problem }) => (
        <Fragment key={key}>
          <SectionRow
            end={
              <IconButton
                icon="close"
                size="small"
                label={t('access.unmark', tenant.name, application)}
                isDisabled={!canRemove}
                onPress={() => {
                  onRemove(key)
                  // The button disappears with the mark.
                  returnFocus()
                }}
              />
            }
          >
            <Icon name={isOn ? 'add' : 'minusSign'} tone={problem === null ? 'accent' : 'danger'} />
            <span className="truncate" title={tenant.name}>
              {tenant.name}
            </span>
          </SectionRow>
          {problem !== null && <p className="access-problem">{problem}</p>}
        </Fragment>
      ))}
    </Section>
  )
}

/** Describes the effect of the changes: who is affected, which settings apply, and where. */
function Effects({ marks }: { marks: readonly Mark[] }): ReactNode {
  const t = useText()
  const { environments } = useProject()
  const tenants = useMemo(
    () => [...new Map(marks.map(({ tenant }) => [tenant.id, tenant])).values()],
    [marks],
  )
  const counts = useTenantCounts(tenants)
  const members = tenants.reduce((sum, { id }) => sum + (counts.get(id)?.members ?? 0), 0)
  const isCounted = tenants.every(({ id }) => (counts.get(id)?.members ?? null) !== null)
  const added = marks.filter(({ row }) => row === null).length
  const own = (isOn: boolean): number =>
    marks.filter((mark) => mark.isOn === isOn).reduce((sum, { row }) => sum + (row?.settingsCount ?? 0), 0)
  return (
    <ul className="access-list">
      {isCounted && <Effect>{t('access.effectMembers', members)}</Effect>}
      {added > 0 && <Effect>{t('access.effectAdded', added)}</Effect>}
      {own(true) > 0 && <Effect>{t('access.effectOwnApply', own(true))}</Effect>}
      {own(false) > 0 && <Effect>{t('access.effectOwnKept', own(false))}</Effect>}
      <Effect>
        {t('access.effectEnvironments')}
        <span className="access-environments">
          {environments.map((environment) => (
            <EnvironmentBadge
              key={environment.id}
              name={environment.name}
              isProtected={environment.protected}
            />
          ))}
        </span>
      </Effect>
    </ul>
  )
}

const Effect = ({ children }: { children: ReactNode }): ReactNode => (
  <li>
    <span aria-hidden="true">–</span>
    <span>{children}</span>
  </li>
)
