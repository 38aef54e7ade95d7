// patchbay.host.process/1 as a plugin has it: a table of C.
#include "plugin/services/host_services.hpp"
#include "unit/plugin/process_user.hpp"

#include <string_view>

using namespace patchbay;
using namespace patchbay::plugin;
using namespace patchbay::test;
using testing::HasSubstr;

namespace {

class ProcessTable : public ProcessServiceTest {
protected:
    ProcessTable() {
        supervise("echo \"$@\"\n");
        services_.attach(loop_);
    }
    ~ProcessTable() override { services_.detach(); }

    patchbay_status spawn_by_table(const patchbay_process_params& params) {
        process_ = {};
        return table()->spawn(services_.host(), &params, &told_, Told::started, Told::exited,
                              &process_, &error_);
    }
    const patchbay_host_process* table() const { return ProcessService::table(); }
    patchbay_process_params params() const {
        patchbay_process_params made{};
        made.struct_size = sizeof made;
        made.argv = argv_;
        made.argc = 2;
        return made;
    }

    patchbay_str argv_[2] = {str("/bin/echo"), str("hello")};
    HostServices services_{"test", {PATCHBAY_HOST_PROCESS}};
    patchbay_process process_{};
    patchbay_error error_{};
};

TEST_F(ProcessTable, StartsAProgramInItsOwnPidsUnlessItIsToShareThem) {
    auto wanted = params();
    ASSERT_EQ(spawn_by_table(wanted), PATCHBAY_OK);
    {
        const Ends ends(process_);
        EXPECT_EQ(Ends::read_all(ends.out), "namespace /bin/echo /bin/echo hello\n");
    }
    wanted.flags = PATCHBAY_PROCESS_SHARED_PIDS;
    ASSERT_EQ(spawn_by_table(wanted), PATCHBAY_OK);
    const Ends ends(process_);
    EXPECT_EQ(Ends::read_all(ends.out), "shared /bin/echo /bin/echo hello\n");
    ASSERT_TRUE(told(2));
}

TEST_F(ProcessTable, RefusesACallWithoutWhatItNeeds) {
    const auto wanted = params();
    const auto* const host = services_.host();
    const auto call = [&](const patchbay_process_params* given, ProcessService::Exited exited,
                          patchbay_process* out) {
        error_ = {};
        const auto status =
            table()->spawn(host, given, &told_, Told::started, exited, out, &error_);
        EXPECT_STREQ(error_.message, "spawn: params, exited and out are needed");
        return status;
    };
    EXPECT_EQ(call(nullptr, Told::exited, &process_), PATCHBAY_E_INVALID);
    EXPECT_EQ(call(&wanted, nullptr, &process_), PATCHBAY_E_INVALID);
    EXPECT_EQ(call(&wanted, Told::exited, nullptr), PATCHBAY_E_INVALID);
    auto small = wanted;
    small.struct_size = sizeof small.struct_size;  // no host was ever that old
    EXPECT_EQ(call(&small, Told::exited, &process_), PATCHBAY_E_INVALID);
}

TEST_F(ProcessTable, RefusesWhatExecWouldMisread) {
    using namespace std::string_view_literals;
    const auto refusal = [&](const patchbay_process_params& given) {
        EXPECT_EQ(spawn_by_table(given), PATCHBAY_E_INVALID);
        return std::string(error_.message);
    };
    auto wanted = params();
    wanted.cwd = str("/tmp\0/x"sv);
    EXPECT_EQ(refusal(wanted), "cwd contains a NUL byte");
    wanted = params();
    argv_[1] = str("a\0b"sv);
    EXPECT_EQ(refusal(wanted), "the command or one of its arguments contains a NUL byte");
    argv_[1] = str("fine");
    patchbay_kv env{};
    wanted.env = &env;
    wanted.env_count = 1;
    for (const auto name : {""sv, "A=B"sv, "A\0B"sv}) {
        env.name = str(name);
        EXPECT_THAT(refusal(wanted), HasSubstr("is not the name of a variable"));
    }
    env.name = str("A");
    env.value = str("b\0c"sv);
    EXPECT_EQ(refusal(wanted), "env: the value of \"A\" contains a NUL byte");
}

TEST_F(ProcessTable, TellsWhyAProgramDoesNotStart) {
    auto wanted = params();
    argv_[0] = str("");
    EXPECT_EQ(spawn_by_table(wanted), PATCHBAY_E_INVALID);
    EXPECT_STREQ(error_.message, "command is empty");
    wanted.argc = 0;
    EXPECT_EQ(spawn_by_table(wanted), PATCHBAY_E_INVALID);
    wanted.argc = 2;
    argv_[0] = str("/opt/none/program");
    EXPECT_EQ(spawn_by_table(wanted), PATCHBAY_E_UNSUPPORTED) << "another transport may do";
    EXPECT_THAT(error_.message, HasSubstr("No such file"));
    argv_[0] = str("/bin/echo");
    ::setenv("PATCHBAY_SUPERVISOR", "/opt/none/supervisor", 1);
    services_.detach();
    services_.attach(loop_);
    EXPECT_EQ(spawn_by_table(wanted), PATCHBAY_E_IO);
}

TEST_F(ProcessTable, IsClosedWhenThePluginIsDetached) {
    services_.detach();
    EXPECT_EQ(spawn_by_table(params()), PATCHBAY_E_CLOSED);
    EXPECT_STREQ(error_.message, "the host is closing");
    table()->stop(services_.host(), 1, 1);
}

TEST_F(ProcessTable, StopsByNumber) {
    supervise(kSaysStarted + std::string("dd bs=8 count=1 <&3 2>/dev/null | od -An -td4\n"));
    services_.detach();
    services_.attach(loop_);
    ASSERT_EQ(spawn_by_table(params()), PATCHBAY_OK);
    const Ends ends(process_);
    ASSERT_TRUE(told(1));
    table()->stop(services_.host(), process_.op, 30);
    EXPECT_THAT(Ends::read_all(ends.out), HasSubstr(" 30"));
    ASSERT_TRUE(told(2));
}

}  // namespace
