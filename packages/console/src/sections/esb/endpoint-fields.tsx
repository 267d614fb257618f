// The fields of the endpoint form.
import './esb.css'
import type { ReactNode } from 'react'
import { Select, TextField } from '../../kit/form.tsx'
import { useText } from '../../texts/language.tsx'
import type { EndpointValues } from './endpoint-input.ts'
import type { Endpoint } from './endpoint-types.ts'

type EndpointFieldsProps = {
  values: EndpointValues
  stored: Endpoint | null
  onChange: (changes: Partial<EndpointValues>) => void
}

const authTypes = ['None', 'Basic', 'Bearer'] as const
const logLevels = ['NONE', 'BASIC', 'FULL'] as const
const messageTypes = ['JSON', 'XML', 'SOAP'] as const
const none = '*'

/** Returns the option that has this id. */
const pick = <Value extends string>(options: readonly Value[], id: string): Value | undefined =>
  options.find((option) => option === id)

export function EndpointFields(props: EndpointFieldsProps): ReactNode {
  const t = useText()
  const { values, stored, onChange } = props
  const isMoved = stored !== null && stored.consumeURL !== values.consumeURL
  return (
    <>
      <TextField
        name="name"
        label={t('esb.name')}
        value={values.name}
        onChange={(name) => onChange({ name })}
        isRequired
        hasAutoFocus
      />
      <TextField
        name="consumeURL"
        label={t('esb.path')}
        hint={t(isMoved ? 'esb.pathChangeHint' : 'esb.pathHint')}
        value={values.consumeURL}
        onChange={(consumeURL) => onChange({ consumeURL })}
        isMono
        isRequired
      />
      <TextField
        name="url"
        label={t('esb.targetURL')}
        hint={t('esb.targetHint')}
        placeholder="https://partner.example/orders"
        value={values.url}
        onChange={(url) => onChange({ url })}
        isMono
      />
      <Authentication {...props} />
      <Messages {...props} />
      <Select
        label={t('esb.logLevel')}
        hint={t(`esb.logLevelHint.${values.logLevel}`)}
        value={values.logLevel}
        options={logLevels.map((id) => ({ id, text: id, hint: t(`esb.logLevelText.${id}`) }))}
        onChange={(id) => onChange({ logLevel: pick(logLevels, id) ?? 'BASIC' })}
      />
      <TextField
        name="description"
        label={t('esb.description')}
        value={values.description}
        onChange={(description) => onChange({ description })}
        lines={2}
      />
    </>
  )
}

function Authentication({ values, stored, onChange }: EndpointFieldsProps): ReactNode {
  const t = useText()
  const keeps = stored?.authType === values.authType
  return (
    <>
      <Select
        label={t('esb.authentication')}
        {...(stored !== null && stored.authType !== 'None' && !keeps ? { hint: t('esb.clearsSecret') } : {})}
        value={values.authType}
        options={authTypes.map((id) => ({ id, text: t(`esb.auth.${id}`) }))}
        onChange={(id) => onChange({ authType: pick(authTypes, id) ?? 'None' })}
      />
      {values.authType === 'Basic' && (
        <>
          <TextField
            name="authUsername"
            label={t('esb.userName')}
            value={values.authUsername}
            onChange={(authUsername) => onChange({ authUsername })}
            isMono
          />
          <TextField
            name="authPassword"
            type="password"
            label={t('esb.password')}
            hint={t(keeps ? 'esb.keepsSecret' : 'esb.secretHint')}
            value={values.authPassword}
            onChange={(authPassword) => onChange({ authPassword })}
            isMono
          />
        </>
      )}
      {values.authType === 'Bearer' && (
        <TextField
          name="authToken"
          type="password"
          label={t('esb.token')}
          hint={t(keeps ? 'esb.keepsSecret' : 'esb.secretHint')}
          value={values.authToken}
          onChange={(authToken) => onChange({ authToken })}
          isMono
        />
      )}
    </>
  )
}

function Messages({ values, onChange }: EndpointFieldsProps): ReactNode {
  const t = useText()
  const options = [{ id: none, text: t('esb.anyMessage') }, ...messageTypes.map((id) => ({ id, text: id }))]
  return (
    <div className="esb-columns">
      <Select
        label={t('esb.inputType')}
        hint={t('esb.inputTypeHint')}
        value={values.inputMessageType === '' ? none : values.inputMessageType}
        options={options}
        onChange={(id) => onChange({ inputMessageType: pick(messageTypes, id) ?? '' })}
      />
      <Select
        label={t('esb.outputType')}
        hint={t('esb.outputTypeHint')}
        value={values.outputMessageType === '' ? none : values.outputMessageType}
        options={options}
        onChange={(id) => onChange({ outputMessageType: pick(messageTypes, id) ?? '' })}
      />
    </div>
  )
}
