// An MCP server of both eras with all that the public conformance suite asks of a server: the
// TypeScript SDK v2. A peer of the tests, started from build/npm.
//
//   build/npm/bin/node server.mjs NODE_MODULES stdio       the first message says which era it is
//   build/npm/bin/node server.mjs NODE_MODULES http        on 127.0.0.1, sessions for the legacy era;
//                                                          prints the port when it listens
//
// test_sampling and the test_elicitation ones ask as only the legacy era can; the
// test_input_required_result ones ask as either does. What each answers is what the suite wants
// (its scenarios say so).
import { createHmac, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, transport] = process.argv.slice(2);
const installed = createRequire(resolve(modules, 'x'));
const load = (name) => import(pathToFileURL(installed.resolve(name)));
const {
    MissingRequiredClientCapabilityError, ProtocolError, Server, createMcpHandler, inputRequired,
    isLegacyRequest,
} = await load('@modelcontextprotocol/server');
const { NodeStreamableHTTPServerTransport, localhostHostValidation, localhostOriginValidation,
    toNodeHandler, toWebRequest } = await load('@modelcontextprotocol/node');
const { serveStdio } = await load('@modelcontextprotocol/server/stdio');

const INVALID_PARAMS = -32602;
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';
const pause = () => new Promise((done) => setTimeout(done, 20));

const text = (words) => ({ type: 'text', text: words });
const image = { type: 'image', data: PIXEL, mimeType: 'image/png' };
const resource = (uri, mimeType, words) => ({ type: 'resource', resource: { uri, mimeType, text: words } });
const says = (...content) => ({ content });
const saying = (words) => () => says(text(words));
const user = (content) => ({ role: 'user', content });
const ask = (message, properties) => ({
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema: { type: 'object', properties, required: Object.keys(properties) } },
});
const STRING = { type: 'string' };

// A state that only we can have made.
const key = randomBytes(32);
const mac = (words) => createHmac('sha256', key).update(words).digest('hex');
const sealed = (words) => `${words}.${mac(words)}`;
function opened(state) {
    const [words, seal = ''] = String(state).split('.');
    const wanted = Buffer.from(mac(words));
    if (seal.length !== wanted.length || !timingSafeEqual(Buffer.from(seal), wanted))
        throw new ProtocolError(INVALID_PARAMS, 'this requestState is not one of ours');
    return words;
}

const accepted = (ctx, name) => {
    const given = ctx.mcpReq.inputResponses?.[name];
    const sound = given?.action === 'accept' && typeof given.content === 'object' && given.content !== null;
    return sound ? given.content : undefined;
};
const given = (ctx, name) => ctx.mcpReq.inputResponses?.[name];
const wanting = (inputRequests, requestState) => inputRequired({ inputRequests, ...(requestState && { requestState }) });

const NAME = ask('What is your name?', { name: STRING });
const SAMPLE = {
    method: 'sampling/createMessage',
    params: { messages: [user(text('What is the capital of France?'))], maxTokens: 100 },
};
const ROOTS = { method: 'roots/list', params: {} };

function capabilitiesOf(ctx, server) {
    const meta = ctx.mcpReq._meta ?? ctx.mcpReq.envelope ?? {};
    return meta['io.modelcontextprotocol/clientCapabilities'] ?? server.getClientCapabilities() ?? {};
}

async function elicited(ctx, message, properties) {
    const answer = await ctx.mcpReq.elicitInput(ask(message, properties).params);
    return says(text(`Elicitation completed: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`));
}

let changes = 0;
// Name: [description, call(args, ctx, server), properties]
const tools = {
    test_simple_text: ['A text', saying('This is a simple text response for testing.')],
    test_image_content: ['An image', () => says(image)],
    test_audio_content: ['A sound', () => says({ type: 'audio', data: SILENCE, mimeType: 'audio/wav' })],
    test_embedded_resource: ['A resource', () => says(
        resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'))],
    test_multiple_content_types: ['Of each something', () => says(
        text('Multiple content types test:'), image,
        resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'))],
    test_error_handling: ['Fails', () => ({
        isError: true, ...says(text('This tool intentionally returns an error for testing')) })],
    test_tool_with_logging: ['Logs three times', async (_, ctx) => {
        for (const words of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
            await ctx.mcpReq.log('info', words);
            await pause();
        }
        return says(text('logged'));
    }],
    test_tool_with_progress: ['Tells three times how far it is', async (_, ctx) => {
        const progressToken = ctx.mcpReq._meta?.progressToken;
        for (const progress of [0, 50, 100]) {
            if (progressToken !== undefined)
                await ctx.mcpReq.notify({
                    method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
            await pause();
        }
        return says(text('done'));
    }],
    test_sampling: ['Asks a model, as the legacy era does', async ({ prompt }, ctx) => {
        const answer = await ctx.mcpReq.requestSampling({ messages: [user(text(prompt))], maxTokens: 100 });
        return says(text(`LLM response: ${answer.content.text}`));
    }, { prompt: STRING }],
    test_elicitation: ['Asks a person, as the legacy era does', async ({ message }, ctx) => {
        const answer = await ctx.mcpReq.elicitInput(ask(message, { username: STRING, email: STRING }).params);
        return says(text(`User response: action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`));
    }, { message: STRING }],
    test_elicitation_sep1034_defaults: ['Asks with defaults', (_, ctx) => elicited(ctx, 'Is that so?', {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
    })],
    test_elicitation_sep1330_enums: ['Asks with choices', (_, ctx) => {
        const options = ['option1', 'option2', 'option3'];
        const titled = ['First', 'Second', 'Third'].map((title, i) => ({ const: `value${i + 1}`, title }));
        return elicited(ctx, 'Which?', {
            untitledSingle: { type: 'string', enum: options },
            titledSingle: { type: 'string', oneOf: titled },
            legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
            untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
            titledMulti: { type: 'array', items: { anyOf: titled } },
        });
    }],
    test_input_required_result_elicitation: ['Wants a name', (_, ctx) => {
        const name = accepted(ctx, 'user_name')?.name;
        return typeof name === 'string' ? says(text(`Hello, ${name}!`)) : wanting({ user_name: NAME });
    }],
    test_input_required_result_sampling: ['Wants a model', (_, ctx) => {
        const answer = given(ctx, 'capital_question');
        return answer?.content ? says(text(answer.content.text)) : wanting({ capital_question: SAMPLE });
    }],
    test_input_required_result_list_roots: ['Wants roots', (_, ctx) => {
        const answer = given(ctx, 'client_roots');
        return answer?.roots ? says(text(`${answer.roots.length} roots`)) : wanting({ client_roots: ROOTS });
    }],
    test_input_required_result_request_state: ['Wants a yes, and its state', (_, ctx) => {
        if (!accepted(ctx, 'confirm'))
            return wanting({ confirm: ask('Go on?', { ok: { type: 'boolean' } }) }, sealed('confirm'));
        opened(ctx.mcpReq.requestState());
        return says(text('state-ok'));
    }],
    test_input_required_result_multiple_inputs: ['Wants three things', (_, ctx) => {
        const all = accepted(ctx, 'user_name') && given(ctx, 'greeting')?.content && given(ctx, 'client_roots')?.roots;
        if (!all)
            return wanting({ user_name: NAME, greeting: SAMPLE, client_roots: ROOTS }, sealed('three'));
        opened(ctx.mcpReq.requestState());
        return says(text('all three'));
    }],
    test_input_required_result_multi_round: ['Wants one thing after the other', (_, ctx) => {
        if (accepted(ctx, 'step2') && opened(ctx.mcpReq.requestState()) === 'second') return says(text('both'));
        if (accepted(ctx, 'step1') && opened(ctx.mcpReq.requestState()) === 'first')
            return wanting({ step2: ask('What is your favorite color?', { color: STRING }) }, sealed('second'));
        return wanting({ step1: NAME }, sealed('first'));
    }],
    test_input_required_result_tampered_state: ['Knows its state', (_, ctx) => {
        const state = ctx.mcpReq.requestState();
        if (state === undefined) return wanting({ confirm: ask('Go on?', { ok: { type: 'boolean' } }) }, sealed('mine'));
        return says(text(opened(state)));
    }],
    test_input_required_result_capabilities: ['Wants what its client can', (_, ctx, server) => {
        const can = capabilitiesOf(ctx, server);
        const wanted = {
            ...(can.elicitation && { user_name: NAME }),
            ...(can.sampling && { capital_question: SAMPLE }),
            ...(can.roots && { client_roots: ROOTS }),
        };
        const all = Object.keys(wanted).every((name) => given(ctx, name));
        return all ? says(text('that is all')) : wanting(wanted);
    }],
    test_missing_capability: ['Needs a model', (_, ctx, server) => {
        if (!capabilitiesOf(ctx, server).sampling)
            throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
        return says(text('there is one'));
    }],
    test_streaming_elicitation: ['Wants a name, behind a stream', async (_, ctx) => {
        await ctx.mcpReq.log('info', 'about to ask');
        return accepted(ctx, 'user_name') ? says(text('Hello')) : wanting({ user_name: NAME });
    }],
    test_logging_tool: ['Logs where it may', async (_, ctx) => {
        await ctx.mcpReq.log('info', 'may be heard');
        return says(text('logged'));
    }],
    test_trigger_tool_change: ['Changes the list of tools', async (_, ctx, server) => {
        ++changes;
        await tell(server, 'tools');
        return says(text('changed'));
    }],
    test_trigger_prompt_change: ['Changes the list of prompts', async (_, ctx, server) => {
        ++changes;
        await tell(server, 'prompts');
        return says(text('changed'));
    }],
    json_schema_2020_12_tool: ['Has a schema of 2020-12', saying('so it has')],
};
const SCHEMA_2020_12 = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: STRING, city: STRING } } },
    properties: {
        name: STRING, address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] }, phone: STRING, email: STRING,
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false,
};

const prompts = {
    test_simple_prompt: [[], () => [user(text('This is a simple prompt for testing.'))]],
    test_prompt_with_arguments: [['arg1', 'arg2'], ({ arg1, arg2 }) => [
        user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))]],
    test_prompt_with_embedded_resource: [['resourceUri'], ({ resourceUri }) => [
        user(resource(resourceUri, 'text/plain', 'Embedded resource content for testing.')),
        user(text('Please process the embedded resource above.'))]],
    test_prompt_with_image: [[], () => [user(image), user(text('Please analyze the image above.'))]],
    test_input_required_result_prompt: [[], (_, ctx) => {
        const context = accepted(ctx, 'user_context')?.context;
        return context === undefined
            ? wanting({ user_context: ask('What context should the prompt use?', { context: STRING }) })
            : [user(text(`In the context of ${context}`))];
    }],
};

const resources = {
    'test://static-text': ['text/plain', { text: 'This is the content of the static text resource.' }],
    'test://static-binary': ['image/png', { blob: PIXEL }],
    'test://watched-resource': ['text/plain', { text: 'Watched resource content' }],
};
const TEMPLATE = /^test:\/\/template\/([^/]+)\/data$/;
function read(uri) {
    const [mimeType, content] = resources[uri] ?? [];
    if (content) return { uri, mimeType, ...content };
    const id = TEMPLATE.exec(uri)?.[1];
    if (id === undefined) throw new ProtocolError(INVALID_PARAMS, 'Resource not found', { uri });
    return {
        uri, mimeType: 'application/json',
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    };
}

const METHODS = { tools: 'toolsChanged', prompts: 'promptsChanged' };
async function tell(server, kind) {
    handler?.notify[METHODS[kind]]();
    // A server of one request has nobody to tell but those who listen.
    if (server.isOfOneRequest) return;
    await server.notification({ method: `notifications/${kind}/list_changed` });
}

function serve({ era }) {
    const server = new Server({ name: 'everything', version: '1.0.0' }, {
        capabilities: {
            tools: { listChanged: true }, prompts: { listChanged: true }, resources: { subscribe: true },
            completions: {}, logging: {},
        },
    });
    server.isOfOneRequest = era === 'modern' && transport === 'http';
    const on = (method, answer) => server.setRequestHandler(method, answer);
    on('tools/list', () => ({
        tools: Object.entries(tools).map(([name, [description, , properties = {}]]) => ({
            name, description,
            inputSchema: name === 'json_schema_2020_12_tool' ? SCHEMA_2020_12
                : { type: 'object', properties, required: Object.keys(properties) },
        })),
    }));
    on('tools/call', async ({ params }, ctx) => {
        const tool = tools[params.name];
        if (!tool) throw new ProtocolError(INVALID_PARAMS, `no tool ${params.name}`);
        return tool[1](params.arguments ?? {}, ctx, server);
    });
    on('prompts/list', () => ({
        prompts: Object.entries(prompts).map(([name, [names]]) => ({
            name, description: `The prompt ${name}`,
            arguments: names.map((each) => ({ name: each, description: each, required: true })),
        })),
    }));
    on('prompts/get', ({ params }, ctx) => {
        const prompt = prompts[params.name];
        if (!prompt) throw new ProtocolError(INVALID_PARAMS, `no prompt ${params.name}`);
        const given = prompt[1](params.arguments ?? {}, ctx);
        return Array.isArray(given) ? { messages: given } : given;
    });
    on('resources/list', () => ({
        resources: Object.entries(resources).map(([uri, [mimeType]]) => ({
            uri, name: uri, description: `The resource ${uri}`, mimeType })),
    }));
    on('resources/templates/list', () => ({
        resourceTemplates: [{
            uriTemplate: 'test://template/{id}/data', name: 'template', description: 'Of each id',
            mimeType: 'application/json' }],
    }));
    on('resources/read', ({ params }) => ({ contents: [read(params.uri)] }));
    on('completion/complete', ({ params }) => ({
        completion: { values: ['paris', 'park', 'party'].filter((each) => each.startsWith(params.argument.value)) },
    }));
    if (era === 'legacy') {
        on('resources/subscribe', () => ({}));
        on('resources/unsubscribe', () => ({}));
    }
    return server;
}

let handler;
if (transport === 'stdio') {
    serveStdio(serve, { onerror: (error) => console.error(error.message) });
} else {
    handler = createMcpHandler(serve, { legacy: 'reject', onerror: (error) => console.error(error.message) });
    const modern = toNodeHandler(handler);
    const sessions = new Map();
    const isLocal = localhostHostValidation();
    const isOurs = localhostOriginValidation();
    const legacy = async (request, response, body) => {
        const known = sessions.get(request.headers['mcp-session-id']);
        if (known) return known.handleRequest(request, response, body);
        if (body?.method !== 'initialize') return response.writeHead(404).end();
        const session = new NodeStreamableHTTPServerTransport({
            sessionIdGenerator: randomUUID,
            onsessioninitialized: (id) => sessions.set(id, session),
        });
        session.onclose = () => sessions.delete(session.sessionId);
        await serve({ era: 'legacy' }).connect(session);
        return session.handleRequest(request, response, body);
    };
    const listener = createServer(async (request, response) => {
        if (!isLocal(request, response) || !isOurs(request, response)) return;
        try {
            let body;
            if (request.method === 'POST') {
                const chunks = [];
                for await (const chunk of request) chunks.push(chunk);
                body = JSON.parse(Buffer.concat(chunks).toString());
            }
            const asked = await toWebRequest(request, body);
            if (request.method !== 'POST' || (await isLegacyRequest(asked, body)))
                await legacy(request, response, body);
            else
                await modern(request, response, body);
        } catch (error) {
            console.error(error.message);
            if (!response.headersSent) response.writeHead(400).end();
        }
    });
    listener.listen(0, '127.0.0.1', () => console.log(String(listener.address().port)));
}
