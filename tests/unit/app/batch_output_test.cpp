#include "app/batch_output.hpp"

#include "app/output.hpp"
#include "core/secrets.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace patchbay::app {
namespace {

TEST(BatchOutput, WhatAServerSaysIsNeverALineOfItsOwn) {
    const std::string forged = "{\"a\":1,\r\n{\"id\":2,\"ok\":true}\n}";
    const std::string flat = "{\"a\":1,  {\"id\":2,\"ok\":true} }";
    core::Loop loop;
    BatchOutput output(loop);
    testing::internal::CaptureStdout();
    output.notification("s", "notifications/message", forged);
    output.result("1", forged);
    output.rpc_error("3", "{\"code\":1,\n\"message\":\"no\"}");
    output.flush();
    EXPECT_EQ(testing::internal::GetCapturedStdout(),
              "{\"event\":\"notification\",\"server\":\"s\",\"method\":\"notifications/message\","
              "\"params\":" +
                  flat + "}\n{\"id\":1,\"ok\":true,\"result\":" + flat +
                  "}\n{\"id\":3,\"ok\":false,\"error\":{\"kind\":\"server\",\"message\":\"no\","
                  "\"rpc\":{\"code\":1, \"message\":\"no\"}}}\n");
    EXPECT_FALSE(output.lost());
}

TEST(RpcErrorJson, HidesSecretsHoweverTheyAreEscapedAndStaysJson) {
    core::Secrets secrets;
    secrets.add("k9/Zq\"A7");
    secrets.add("8675309");
    EXPECT_EQ(rpc_error_json(R"({"code":1,"message":"with k9\/Zq\u0022A7","data":"k9/Zq\"A7"})"),
              R"({"kind":"server","message":"with ***",)"
              R"("rpc":{"code":1,"message":"with ***","data":"***"}})");
    EXPECT_EQ(rpc_error_json(R"({"code":1,"message":"no","data":8675309})"),
              R"({"kind":"server","message":"no",)"
              R"("rpc":"{\"code\":1,\"message\":\"no\",\"data\":***}"})");
}

}  // namespace
}  // namespace patchbay::app
